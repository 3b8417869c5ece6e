import { setTimeout as delay } from 'node:timers/promises'
import { LoadProcess } from '../load/load-process.ts'

export interface SubscribersSetup {
  readonly url: string
  readonly password: string
  readonly topic: string
  readonly count: number
  /** Absent: every other one at QoS 0, the rest at QoS 1. */
  readonly qos?: 0 | 1
  /** Messages that each is to get, if that is known beforehand. */
  readonly expected?: number
}

export interface SubscribersReport {
  /** Of all together. */
  readonly received: number
  /** Messages that did not come behind the one before them. */
  readonly outOfOrder: number
  /** Subscribers whose connection was ended. */
  readonly closed: number
  /** Subscribers that got as many as expected. */
  readonly complete: number
  /** From sending a write to receiving its message, milliseconds. */
  readonly lag: { readonly p50: number; readonly p99: number; readonly max: number }
}

/** Milliseconds without a message after which no more are expected. */
const silence = 5_000

/** Many subscribers of one topic, in a process of their own. */
export class Subscribers {
  readonly #process = new LoadProcess(new URL('subscribers-child.ts', import.meta.url))

  /** Resolves when all are subscribed. */
  static async start(setup: SubscribersSetup): Promise<Subscribers> {
    const subscribers = new Subscribers()
    await subscribers.#process.ask('subscribe', setup)
    return subscribers
  }

  report(): Promise<SubscribersReport> {
    return this.#process.ask('report')
  }

  /** Waits until so many were received, or nothing more comes. */
  async untilReceived(count: number): Promise<SubscribersReport> {
    let report = await this.report()
    for (let last = performance.now(); report.received < count && performance.now() - last < silence; ) {
      await delay(100)
      const before = report.received
      report = await this.report()
      if (report.received > before) last = performance.now()
    }
    return report
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }
}
