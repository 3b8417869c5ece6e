import type { Identity } from './mqtt-packets.ts'
import { LoadProcess } from './process.ts'

const program = new URL('subscribers-child.ts', import.meta.url)
/** Seconds without a message after which no more are expected. */
const silence = 1

export interface Subscription extends Omit<Identity, 'clientId'> {
  readonly host: string
  readonly port: number
  /** Of subscriber i the client id is `<prefix><i>`. */
  readonly clientIdPrefix: string
  readonly filters: readonly string[]
  readonly qos: 0 | 1
  /** Of version 5: one for all filters, or one for each, which takes a SUBSCRIBE for each. Absent: none. */
  readonly identifiers?: 'one' | 'each'
  /** Subscribers, each with a connection of its own. */
  readonly count: number
}

/**
 * Subscribers that only count, in a process of their own; resolves when all are subscribed.
 *
 * @throws Error if a connection or a filter is refused; each call, if one was disconnected
 */
export async function subscribe(subscription: Subscription) {
  const subscribers = new LoadProcess(program)
  try {
    await subscribers.ask('subscribe', subscription)
  } catch (error) {
    await subscribers.stop()
    throw error
  }
  /** Messages so far, of all together. */
  const received = () => subscribers.ask<number>('received')
  return {
    received,
    /** Of the process so far, microseconds. */
    processorTime: () => subscribers.ask<number>('processorTime'),
    /** Waits until nothing has come for a second. @returns messages of all together */
    drained: async () => {
      for (let before = await received(); ; ) {
        await subscribers.wait(silence)
        const now = await received()
        if (now === before) return now
        before = now
      }
    },
    close: async () => {
      await subscribers.ask('end').finally(() => subscribers.stop())
    },
  }
}
