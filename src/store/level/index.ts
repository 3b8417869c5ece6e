export { restoreLevelStore } from './backup.ts'
export { checkLevelStore, type StoreCheck, type StoreFault } from './check/check.ts'
export { createLevelStore, type LevelStoreOptions } from './store.ts'
