import type { Subscription } from '../helpers/mqtt-client.ts'
import { ArrayCheck } from './array-check.ts'
import type { Findings } from './findings.ts'
import { type LinkSetup, openLink } from './mqtt-link.ts'
import { Timing } from './timing.ts'
import { ValueCheck, type ValueCheckSetup } from './value-check.ts'

/** What is known in the end of a subscriber that was there all the time. */
export interface Subscriber {
  readonly name: string
  readonly findings: Findings
  readonly timing: Timing
  /** Messages that were right. */
  readonly taken: number
  /** Messages that are due and have not come. */
  countMissing(): number
  /** Notes what has not come, and leaves. */
  finish(): Promise<void>
}

export interface LiveSubscriber extends Subscriber {
  /** Whether it gets something of every write, so that a gap says something of the server. */
  readonly hearsAll: boolean
}

export interface LiveSetup extends ValueCheckSetup {
  readonly name: string
  readonly link: Pick<LinkSetup, 'url' | 'password' | 'bytesPerSecond'>
  readonly subscriptions: readonly Subscription[]
  /** What it subscribes to. Default `values`. */
  readonly messages?: 'values' | 'arrays'
}

/** Connects and subscribes; from then on every message is to come, once, in order. */
export async function subscribeLive(setup: LiveSetup): Promise<LiveSubscriber> {
  const { name, keys, places, ledger, messages = 'values' } = setup
  const check = messages === 'values' ? new ValueCheck(setup) : new ArrayCheck(setup.ledger, setup.places)
  const timing = new Timing()
  let isLeaving = false
  const link = await openLink({
    ...setup.link,
    clientId: name,
    onMessage: message => {
      const recognised = check.take(message)
      if (recognised) timing.take('due' in recognised ? recognised.due.sentAt : recognised.sentAt)
    },
  })
  void link.closed.then(() => {
    if (!isLeaving) check.findings.add('lost', 'the connection')
  })
  await link.subscribeTo(...setup.subscriptions)
  return {
    name,
    hearsAll: keys === undefined && places.length === ledger.things.length,
    findings: check.findings,
    timing,
    get taken() {
      return check.taken
    },
    countMissing: () => check.countMissing(),
    finish: async () => {
      isLeaving = true
      check.finish()
      await link.disconnect()
    },
  }
}
