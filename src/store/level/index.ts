export { checkLevelStore, type StoreCheck, type StoreFault } from './check/check.ts'
export { restoreLevelStore } from './database/backup.ts'
export { createLevelStore, type LevelStoreOptions } from './store.ts'
