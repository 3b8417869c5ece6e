export type {
  AccessSessionRegistry,
  AccessSessionSummary,
  AccessSessionTerms,
  ActivationCodeSummary,
  ActivationCodes,
  MintedAccessSession,
  ThingQuery,
  ThingRegistry,
  ThingSummary,
  TokenSummary,
} from './access/access.ts'
export { type Lock, LockLost, type Locks, type TakenLock } from './core/locks.ts'
export type { Nodes } from './core/nodes.ts'
export type { Observer, WriteDoor, WriteOutcome } from './core/observer.ts'
export { WriteRefused } from './core/parse.ts'
export type { MagicHistory, MagicRecord } from './core/ports.ts'
export { Aggregation } from './core/record/aggregation.ts'
export { averageOf, sumOf } from './core/record/bucket-fold.ts'
export type { Geo } from './core/record/geo.ts'
export type { Problem } from './core/record/problem.ts'
export type { ClockStep, ReceiptClock } from './core/time/clock.ts'
export type {
  HostThings,
  JsonValue,
  NewReading,
  Reading,
  ReadingListener,
  ReadReadingsOptions,
  Time,
  WriteReadingsOptions,
} from './embed/index.ts'
export { catalogue, type FieldError, type MqttEffect, type Reason, ThingwireError } from './errors.ts'
export type {
  MagicChange,
  MagicParts,
  MagicResource,
  MagicState,
} from './magic/magic-resource.ts'
export { promised, settle, type Waiting } from './store/commit-ticket.ts'
export type * from './store/contract.ts'
export { createLevelStore, type LevelStoreOptions, restoreLevelStore } from './store/level/index.ts'
export { createMemoryStore } from './store/memory/index.ts'
export { type OpenStoreOptions, openStore } from './store/open-store.ts'
export { createRedisStore, type RedisStoreOptions } from './store/redis/index.ts'
export { createThings, type Things, type ThingsOptions, type ThingsParts } from './things.ts'
