export { restoreLevelStore } from './backup.ts'
export { createLevelStore, type LevelStoreOptions } from './store.ts'
