import { setTimeout as delay } from 'node:timers/promises'
import type { Message } from '../helpers/mqtt-client.ts'
import { eventually } from '../helpers/waiting.ts'
import { Findings } from './findings.ts'
import { judgeJoin } from './join-check.ts'
import { type Ledger, lanes, type ThingLedger } from './ledger.ts'
import { type LinkSetup, openLink } from './mqtt-link.ts'
import { between } from './random.ts'
import { recognise } from './recognise.ts'

export interface JoiningSetup {
  readonly name: string
  readonly ledger: Ledger
  readonly link: Pick<LinkSetup, 'url' | 'password'>
  /** Places of things whose latest records are the last written ones. */
  readonly places: readonly number[]
  readonly qos: 0 | 1
}

export interface JoiningSubscriber {
  readonly name: string
  readonly findings: Findings
  /** Times it subscribed. */
  readonly joins: number
  readonly retained: number
  readonly live: number
  leave(): Promise<void>
}

/** Milliseconds for which it stays with one thing. */
const stay = { least: 50, most: 400 }

/**
 * Subscribes to one thing after another while writes go on. Each time it gets the latest of each resource with RETAIN,
 * then what is live, without gap or repeat between them.
 */
export async function startJoining(setup: JoiningSetup): Promise<JoiningSubscriber> {
  const { name, ledger, places, qos } = setup
  const findings = new Findings()
  const counts = { joins: 0, retained: 0, live: 0 }
  let isLeaving = false
  let received: Message[] = []
  const link = await openLink({
    ...setup.link,
    clientId: name,
    onMessage: message => void received.push(message),
  })
  const join = async (thing: ThingLedger) => {
    received = []
    const { acked } = thing
    const topic = `things/${thing.thing.thingId}/values/#`
    const { due } = thing
    const resources = new Set(
      due.ordinary
        .slice(0, acked.ordinary)
        .filter(({ isKept }) => isKept)
        .map(({ key }) => key),
    )
    await link.subscribeTo({ topic, qos })
    await eventually(() => received.filter(({ retain }) => retain).length >= resources.size)
    await delay(between(stay.least, stay.most))
    await link.unsubscribe(topic)
    const messages = received.flatMap(message => {
      if (message.retain && message.topic.endsWith('/silent')) return []
      const recognised = recognise(ledger, message, findings)
      return recognised?.thing === thing ? [{ ...recognised, retain: message.retain }] : []
    })
    for (const lane of lanes) {
      // States follow their acks.
      const own = messages.filter(message => message.lane === lane)
      for (const { kind, what } of judgeJoin(
        thing.due[lane],
        own,
        lane === 'ordinary' ? acked.ordinary : 0,
      )) {
        findings.add(kind, `join ${counts.joins}, thing ${thing.place} ${lane}: ${what}`)
      }
    }
    counts.joins++
    counts.retained += messages.filter(({ retain }) => retain).length
    counts.live += messages.filter(({ retain }) => !retain).length
  }
  const life = (async () => {
    while (!isLeaving) {
      const thing = ledger.things[places[between(0, places.length - 1)] ?? 0]
      if (thing) await join(thing)
    }
    await link.disconnect()
  })()
  life.catch(() => {})
  return {
    name,
    findings,
    get joins() {
      return counts.joins
    },
    get retained() {
      return counts.retained
    },
    get live() {
      return counts.live
    },
    leave: async () => {
      isLeaving = true
      await life
    },
  }
}
