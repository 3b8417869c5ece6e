import { setTimeout as delay } from 'node:timers/promises'
import { ConnectRefused, type Message, type MqttClient, type Subscription } from '../helpers/mqtt-client.ts'
import { eventually, within } from '../helpers/waiting.ts'
import { Check, type CheckSetup, judgeJoin } from './checks.ts'
import { type LinkSetup, openLink } from './mqtt-link.ts'
import {
  between,
  chance,
  Findings,
  type Ledger,
  pick,
  type Recognised,
  recognise,
  type ThingLedger,
  valueLanes,
} from './plan.ts'

/** What is known in the end of a subscriber that was there all the time. */
export interface Subscriber {
  readonly name: string
  readonly findings: Findings
  /** Messages that were right. */
  readonly taken: number
  /** Messages that are due and have not come. */
  countMissing(): number
  /** Notes what has not come, and leaves. */
  finish(): Promise<void>
}

export interface LiveSubscriber extends Subscriber {
  /** Longest time between two messages, milliseconds; undefined of one that does not get something of every write. */
  readonly longestGap: number | undefined
}

export interface LiveSetup extends CheckSetup {
  readonly name: string
  readonly link: Pick<LinkSetup, 'version' | 'url' | 'password' | 'bytesPerSecond'>
  readonly subscriptions: readonly Subscription[]
}

/** Connects and subscribes; from then on every message is to come, once, in order. */
export async function subscribeLive(setup: LiveSetup): Promise<LiveSubscriber> {
  const { name, keys, places, ledger } = setup
  const check = new Check(setup)
  const hearsAll = keys === undefined && places.length === ledger.things.length
  let [longestGap, last, isLeaving] = [0, Number.POSITIVE_INFINITY, false]
  const onMessage = (message: Message) => {
    if (!check.take(message)) return
    const now = performance.now()
    longestGap = Math.max(longestGap, now - last)
    last = now
  }
  const link = await openLink({ ...setup.link, clientId: name, onMessage })
  void link.closed.then(() => {
    if (!isLeaving) check.findings.add('lost', 'the connection')
  })
  await link.subscribeTo(...setup.subscriptions)
  return {
    ...{ name, findings: check.findings },
    get longestGap() {
      return hearsAll ? longestGap : undefined
    },
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

export interface JoiningSetup {
  readonly name: string
  readonly ledger: Ledger
  readonly link: Pick<LinkSetup, 'version' | 'url' | 'password'>
  /** Places of things whose latest records are the last written ones. */
  readonly places: readonly number[]
  readonly qos: 0 | 1
}

/**
 * Subscribes to one thing after another while writes go on. Each time it gets the latest of each resource with RETAIN,
 * then what is live, without gap or repeat between them.
 */
export class JoiningSubscriber {
  readonly name: string
  readonly findings = new Findings()
  /** Times it subscribed. */
  joins = 0
  retained = 0
  live = 0
  readonly #setup: JoiningSetup
  #received: Message[] = []
  #isLeaving = false
  readonly #life: Promise<void>

  constructor(setup: JoiningSetup) {
    this.name = setup.name
    this.#setup = setup
    this.#life = this.#live()
    // Thrown where it is awaited, in the end.
    this.#life.catch(() => {})
  }

  async leave(): Promise<void> {
    this.#isLeaving = true
    await this.#life
  }

  async #live(): Promise<void> {
    const { name, link: address, ledger, places } = this.#setup
    const onMessage = (message: Message) => void this.#received.push(message)
    const link = await openLink({ ...address, clientId: name, onMessage })
    while (!this.#isLeaving) await this.#join(link, ledger.things[pick(places)] as ThingLedger)
    await link.disconnect()
  }

  async #join(link: MqttClient, thing: ThingLedger): Promise<void> {
    this.#received = []
    const { acked, due } = thing
    const topic = `things/${thing.thing.thingId}/values/#`
    const kept = due.ordinary.slice(0, acked.ordinary).filter(({ isKept }) => isKept)
    const resources = new Set(kept.map(({ key }) => key))
    await link.subscribeTo({ topic, qos: this.#setup.qos })
    await eventually(() => this.#received.filter(({ retain }) => retain).length >= resources.size)
    await delay(between(50, 400))
    await link.unsubscribe(topic)
    const messages = this.#received.flatMap(message => {
      if (message.retain && message.topic.endsWith('/silent')) return []
      const recognised = recognise(this.#setup.ledger, message, this.findings)
      return recognised?.thing === thing ? [{ ...recognised, retain: message.retain }] : []
    })
    for (const lane of valueLanes) {
      const own = messages.filter(message => message.lane === lane)
      // States follow their acks.
      for (const { kind, what } of judgeJoin(due[lane], own, lane === 'ordinary' ? acked.ordinary : 0))
        this.findings.add(kind, `join ${this.joins}, thing ${thing.place} ${lane}: ${what}`)
    }
    const retained = messages.filter(({ retain }) => retain).length
    this.joins++
    this.retained += retained
    this.live += messages.length - retained
  }
}

/**
 * With DISCONNECT; by closing the socket; the same with messages that it has not acknowledged; or not at all: it comes back
 * over another connection, while the server takes the first one for alive.
 */
export type Leave = 'DISCONNECT' | 'cut' | 'cut without acks' | 'takeover'

export interface SessionSetup extends CheckSetup {
  readonly name: string
  /** It comes back over any of them. */
  readonly links: readonly Pick<LinkSetup, 'version' | 'url' | 'password'>[]
  readonly subscriptions: readonly Subscription[]
  /** How it goes away, in turn. */
  readonly leaves: readonly Leave[]
  /** It comes back when so many messages have not come to it, at most: less than the bound of a session. */
  readonly awayFor: number
}

/** Codes of CONNACK in 3.1.1 and 5. */
const serverUnavailable: readonly (number | undefined)[] = [3, 0x88]
/** Milliseconds. */
const stay = { first: 1_000, most: 400, withoutAcks: 50, longest: 60_000 }
const longestAbsence = 1_500
const longestRefusal = 30_000
/** Between two pings, each of which shows that what was acked before is known to be acked. */
const pingInterval = 20

/** A persistent session at QoS 1 that goes away and comes back until it is to settle. */
export class ReturningSession implements Subscriber {
  readonly name: string
  /** How many times it was away. */
  absences = 0
  /** The most messages that had not come to it when it was back: above 1,000 the server may drop some. */
  mostMissed = 0
  /** CONNACKs that showed that the server could not take it just then, after which it has asked again. */
  refusals = 0
  readonly #setup: SessionSetup
  readonly #check: Check
  #isSettling = false
  /** Of this connection; the server may not know yet that they are acked. */
  #unconfirmed: Recognised[] = []
  /** All of the newest connection. */
  #latest: Recognised[] = []
  #life: Promise<MqttClient> | undefined

  constructor(setup: SessionSetup) {
    this.name = setup.name
    this.#setup = setup
    this.#check = new Check({ ...setup, missesNothing: false })
  }

  get findings(): Findings {
    return this.#check.findings
  }

  get taken(): number {
    return this.#check.taken
  }

  async start(): Promise<this> {
    const first = await this.#connect(true)
    await first.subscribeTo(...this.#setup.subscriptions)
    this.#life = this.#live(first)
    // Thrown where it is awaited, in the end.
    this.#life.catch(() => {})
    return this
  }

  countMissing(): number {
    return this.#check.countMissing()
  }

  /** No more absences: it comes back for the last time. */
  async settle(): Promise<void> {
    this.#isSettling = true
    await this.#life
  }

  async finish(): Promise<void> {
    this.#check.finish()
    await (await this.#life)?.disconnect()
  }

  async #live(first: MqttClient): Promise<MqttClient> {
    const { leaves, awayFor } = this.#setup
    let link = first
    for (let isNew = true; ; isNew = false) {
      await this.#remain(link, isNew)
      if (this.#isSettling) return link
      await this.#leave(link, leaves[this.absences % leaves.length] ?? 'DISCONNECT')
      const wanted = between(0, awayFor)
      await eventually(() => this.#isSettling || this.countMissing() >= wanted, longestAbsence)
      const former = link
      link = await this.#connect(false)
      await within(former.closed, `${this.name}: the end of the connection before`)
      this.mostMissed = Math.max(this.mostMissed, this.countMissing())
    }
  }

  async #connect(isNew: boolean): Promise<MqttClient> {
    for (const begin = performance.now(); ; this.refusals++) {
      try {
        const link = await this.#open()
        const { sessionPresent } = link.connack
        if (sessionPresent === isNew) this.findings.add('lost', `session present is ${sessionPresent}`)
        return link
      } catch (error) {
        const isForNow = error instanceof ConnectRefused && serverUnavailable.includes(error.returnCode)
        if (!isForNow || performance.now() - begin > longestRefusal) throw error
      }
    }
  }

  #open(): Promise<MqttClient> {
    const { links } = this.#setup
    // A node knows only what is in the store: not what was acknowledged to another one shortly before (contract §7.4).
    if (new Set(links.map(({ url }) => url)).size > 1) this.#check.allowAgain(this.#latest)
    this.#latest = []
    const onMessage = (message: Message) => {
      const recognised = this.#check.take(message)
      if (!recognised) return
      this.#unconfirmed.push(recognised)
      this.#latest.push(recognised)
    }
    return openLink({ ...pick(links), clientId: this.name, isPersistent: true, onMessage })
  }

  /** Until it has got what it missed, or, one time in four, perhaps before. */
  async #remain(link: MqttClient, isNew: boolean): Promise<void> {
    const begin = performance.now()
    // A session that left before its retained messages were sent would be owed them.
    const end = begin + (isNew ? stay.first : between(0, stay.most))
    const caughtUp = this.taken + this.countMissing()
    const isHasty = this.countMissing() < this.#setup.awayFor / 2 && chance(0.25)
    const mayLeave = () => performance.now() >= end && (isHasty || this.taken >= caughtUp)
    while (!this.#isSettling && !mayLeave()) {
      const known = this.#unconfirmed.length
      await link.ping()
      this.#unconfirmed.splice(0, known)
      if (performance.now() - begin > stay.longest)
        throw new Error(`${this.name}: does not get what it missed`)
      await delay(pingInterval)
    }
  }

  async #leave(link: MqttClient, way: Leave): Promise<void> {
    if (way === 'cut without acks') {
      link.acknowledges = false
      await delay(stay.withoutAcks)
    }
    if (way === 'takeover') link.abandon()
    else await (way === 'DISCONNECT' ? link.disconnect() : link.destroy())
    this.#check.allowAgain(way === 'DISCONNECT' ? [] : this.#unconfirmed)
    this.#unconfirmed = []
    this.absences++
  }
}
