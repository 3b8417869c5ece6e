import { setTimeout as delay } from 'node:timers/promises'
import { ConnectRefused, type MqttClient, type Subscription } from '../helpers/mqtt-client.ts'
import { eventually, within } from '../helpers/waiting.ts'
import type { Subscriber } from './live-subscriber.ts'
import { type LinkSetup, openLink } from './mqtt-link.ts'
import { between, chance, pick } from './random.ts'
import type { Recognised } from './recognise.ts'
import { Timing } from './timing.ts'
import { ValueCheck, type ValueCheckSetup } from './value-check.ts'

/**
 * With DISCONNECT; by closing the socket; the same with messages that it has not acknowledged; or not at all: it comes back
 * over another connection, while the server takes the first one for alive.
 */
export type Leave = 'DISCONNECT' | 'cut' | 'cut without acks' | 'takeover'

export interface SessionSetup extends ValueCheckSetup {
  readonly name: string
  /** It comes back over any of them. */
  readonly links: readonly Pick<LinkSetup, 'url' | 'password'>[]
  readonly subscriptions: readonly Subscription[]
  /** How it goes away, in turn. */
  readonly leaves: readonly Leave[]
  /** It comes back when so many messages have not come to it, at most: less than the bound of a session. */
  readonly awayFor: number
}

export interface ReturningSession extends Subscriber {
  /** How many times it was away. */
  readonly absences: number
  /** The most messages that had not come to it when it was back: above 1,000 the server may drop some. */
  readonly mostMissed: number
  /** Milliseconds from CONNACK until everything that it had missed was there, each time. */
  readonly catchingUp: readonly number[]
  /** Messages that came again with DUP, as they may. */
  readonly repeated: number
  /** CONNACKs that said that the server could not take it just then, after which it has asked again. */
  readonly refusals: number
  /** No more absences: it comes back for the last time. */
  settle(): Promise<void>
}

/** CONNACK return code. */
const serverUnavailable = 3
/** Milliseconds. */
const stay = { first: 1_000, most: 400, withoutAcks: 50 }
const longestStay = 60_000
const longestAbsence = 1_500
const longestRefusal = 30_000
/** Between two pings, each of which shows that what was acked before is known to be acked. */
const pingInterval = 20
const ends: Readonly<Record<Leave, (link: MqttClient) => Promise<void>>> = {
  DISCONNECT: link => link.disconnect(),
  cut: link => link.destroy(),
  'cut without acks': link => link.destroy(),
  takeover: async link => link.abandon(),
}

/** Starts a persistent session at QoS 1 that goes away and comes back until it is told to settle. */
export async function startReturningSession(setup: SessionSetup): Promise<ReturningSession> {
  const { name, leaves } = setup
  const check = new ValueCheck({ ...setup, missesNothing: false })
  const timing = new Timing()
  let absences = 0
  let mostMissed = 0
  let refusals = 0
  const catchingUp: number[] = []
  let isSettling = false
  /** Of this connection; the server may not know yet that they are acked. */
  let unconfirmed: Recognised[] = []
  /** All of the newest connection. */
  let latest: Recognised[] = []

  const open = () => {
    // A node knows only what is in the store: not what was acknowledged to another one shortly before (contract §7.4).
    if (setup.links.length > 1) check.allowAgain(latest)
    latest = []
    return openLink({
      ...pick(setup.links),
      clientId: name,
      clean: false,
      onMessage: message => {
        const recognised = check.take(message)
        if (!recognised) return
        unconfirmed.push(recognised)
        latest.push(recognised)
        timing.take(recognised.due.sentAt)
      },
    })
  }

  const openAtLast = async (): Promise<MqttClient> => {
    for (const begin = performance.now(); ; refusals++) {
      try {
        return await open()
      } catch (error) {
        const isForNow = error instanceof ConnectRefused && error.returnCode === serverUnavailable
        if (!isForNow || performance.now() - begin > longestRefusal) throw error
      }
    }
  }

  const connect = async (isNew: boolean): Promise<MqttClient> => {
    const link = await openAtLast()
    const { sessionPresent } = link.connack
    if (sessionPresent === isNew) check.findings.add('lost', `session present is ${sessionPresent}`)
    return link
  }

  /** Until it has got what it missed, or, one time in four, perhaps before. */
  const remain = async (link: MqttClient, isNew: boolean): Promise<void> => {
    const begin = performance.now()
    // A session that left before its retained messages were sent would be owed them.
    const end = begin + (isNew ? stay.first : between(0, stay.most))
    const caughtUp = check.taken + check.countMissing()
    const isHasty = check.countMissing() < setup.awayFor / 2 && chance(0.25)
    const mayLeave = () => performance.now() >= end && (isHasty || check.taken >= caughtUp)
    let isBehind = !isNew
    while (!isSettling && !mayLeave()) {
      const known = unconfirmed.length
      await link.ping()
      unconfirmed.splice(0, known)
      if (isBehind && check.taken >= caughtUp) {
        isBehind = false
        catchingUp.push(performance.now() - begin)
      }
      if (performance.now() - begin > longestStay) throw new Error(`${name}: does not get what it missed`)
      await delay(pingInterval)
    }
  }

  const leave = async (link: MqttClient, way: Leave): Promise<void> => {
    if (way === 'cut without acks') {
      link.acknowledges = false
      await delay(stay.withoutAcks)
    }
    await ends[way](link)
    check.allowAgain(way === 'DISCONNECT' ? [] : unconfirmed)
    unconfirmed = []
    absences++
  }

  const first = await connect(true)
  await first.subscribeTo(...setup.subscriptions)
  const life = (async () => {
    let link = first
    for (let isNew = true; ; isNew = false) {
      await remain(link, isNew)
      if (isSettling) return link
      await leave(link, leaves[absences % leaves.length] ?? 'DISCONNECT')
      const wanted = between(0, setup.awayFor)
      await eventually(() => isSettling || check.countMissing() >= wanted, longestAbsence)
      const former = link
      link = await connect(false)
      await within(former.closed, `${name}: the end of the connection before`)
      mostMissed = Math.max(mostMissed, check.countMissing())
    }
  })()
  // Thrown where it is awaited, in the end.
  life.catch(() => {})

  return {
    name,
    findings: check.findings,
    timing,
    get taken() {
      return check.taken
    },
    get absences() {
      return absences
    },
    catchingUp,
    get mostMissed() {
      return mostMissed
    },
    get repeated() {
      return check.repeated
    },
    get refusals() {
      return refusals
    },
    countMissing: () => check.countMissing(),
    settle: async () => {
      isSettling = true
      await life
    },
    finish: async () => {
      check.finish()
      await (await life).disconnect()
    },
  }
}
