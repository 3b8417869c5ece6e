export { createRedisStore, type RedisStoreOptions } from './store.ts'
