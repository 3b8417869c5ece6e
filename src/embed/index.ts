export { createHostListeners } from './host-listeners.ts'
export { createHostRead } from './host-reads.ts'
export { HostWrites } from './host-writes.ts'
export type * from './reading.ts'
