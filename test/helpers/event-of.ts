import type { EventEmitter } from 'node:events'

/** Resolves at the next `name`. Unlike `once` of node:events not rejected by an 'error' on the way, such as a connection reset. */
export function eventOf(emitter: EventEmitter, name: string): Promise<void> {
  return new Promise(resolve => {
    emitter.once(name, () => resolve())
  })
}
