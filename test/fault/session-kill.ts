import { setTimeout as delay } from 'node:timers/promises'
import { createThing, type Thing } from '../helpers/http-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { commitOrders } from './commit-order.ts'
import type { Device } from './device.ts'
import { EventReader } from './event-reader.ts'
import { KilledServer } from './killed-server.ts'
import { Ledger } from './ledger.ts'
import { type Habit, LiveSession } from './live-session.ts'
import { Connection, postWrite, runLoad } from './load.ts'
import { fleeting, type Receiver } from './receiver.ts'
import { createDevices, resumeAll } from './served.ts'
import { storedValues } from './stored-values.ts'

/** Where a process is killed that has messages for sessions. `on its return`: the one after it is killed, too. */
export const sessionKillPoints = [
  'random moment',
  'after commit',
  'PUBLISH sent to a session',
  'PUBACK of a session arrived',
  'while a session is read',
  'before the cursor of a session is saved',
  'after the cursor of a session is saved',
  'PUBLISH sent to a session, on its return',
] as const
export type SessionKillPoint = (typeof sessionKillPoints)[number]

export interface SessionKill {
  /** `forgotten log` is a defect, see session-points.ts. */
  readonly point: SessionKillPoint | 'forgotten log'
  /** What shows that the point was reached; undefined if it was not. */
  readonly proof: string | undefined
  /** Times that a process was killed. */
  readonly kills: number
  /** In this round. */
  readonly acks: number
  /** Messages that came again, since the first round. */
  readonly repeated: number
  /** Since the first round, in words. In what order came what came behind the kill, is known at the end of the next. */
  readonly violations: readonly string[]
}

const onReturn = ', on its return'
const habits: readonly Habit[] = ['staying', 'away', 'restless', 'lagging']
/** Of each way, of one record each or of many: fewer messages than a session may miss. */
const writes = { one: 150, 'mostly small': 25 } as const
/** In which a point is to be reached, milliseconds. */
const reachedWithin = 10_000

/** Rounds of load, kill and return on one data directory. */
export class SessionRun {
  readonly #server: KilledServer
  readonly #deadline: number
  readonly #ledger = new Ledger()
  #things: readonly Thing[] = []
  #devices: readonly Device[] = []
  #sessions: readonly LiveSession[] = []
  #readers: readonly EventReader[] = []
  readonly #missing: string[] = []
  #round = 0

  /**
   * @param dataDir empty or missing
   * @param deadline for what was stored to be received, milliseconds
   */
  constructor(dataDir: string, deadline = 30_000) {
    this.#server = new KilledServer(dataDir)
    this.#deadline = deadline
  }

  /** Acked so far. */
  get acks(): number {
    return this.#ledger.acks()
  }

  async kill(point: SessionKill['point']): Promise<SessionKill> {
    const acked = this.acks
    const server = await this.#begin()
    const isOnReturn = point.endsWith(onReturn)
    await this.#loadUntilKilled(server, isOnReturn ? 'random moment' : point)
    await this.#checkOrder()
    if (isOnReturn) {
      const after = Math.floor(Math.random() * 100)
      const connect = (returning: ServerProcess) => this.#connect(returning)
      await this.#server.startAndDie(point.slice(0, -onReturn.length), after, connect)
      await this.#checkOrder()
    }
    const proof = point === 'random moment' ? 'killed from outside' : await this.#server.proof()
    await this.#settle()
    const { violations, repeated } = this
    return { point, proof, kills: isOnReturn ? 2 : 1, acks: this.acks - acked, repeated, violations }
  }

  /** Everything that is wrong, in words. To be called last. */
  async finish(): Promise<readonly string[]> {
    for (const receiving of [...this.#sessions, ...this.#readers]) await receiving.leave()
    await this.#server.stop()
    await this.#checkOrder()
    return this.violations
  }

  /** Kills what still runs. */
  async abandon(): Promise<void> {
    await this.#server.abandon()
  }

  get violations(): readonly string[] {
    // A stream that is resumed shows nothing again (contract §8).
    const again = this.#readers.flatMap(({ receiver: { name, repeated } }) => {
      return repeated > 0 ? [`${name}: ${repeated} writes came again`] : []
    })
    return [...this.#missing, ...again, ...this.#receivers.flatMap(({ violations }) => violations)]
  }

  get repeated(): number {
    return this.#receivers.reduce((sum, { repeated }) => sum + repeated, 0)
  }

  get #receivers(): readonly Receiver[] {
    return [...this.#sessions, ...this.#readers].map(({ receiver }) => receiver)
  }

  async #begin(): Promise<ServerProcess> {
    const server = await this.#server.start()
    if (this.#things.length > 0) return server
    this.#things = [await createThing(server), await createThing(server)]
    this.#devices = createDevices(this.#things, 6, this.#ledger)
    this.#sessions = this.#things.flatMap(thing => [
      ...habits.map(habit => new LiveSession(habit, thing, 'values')),
      new LiveSession('staying', thing, 'writes'),
    ])
    this.#readers = this.#things.flatMap(thing => [
      new EventReader('staying', thing),
      new EventReader('restless', thing),
    ])
    await this.#connect(server)
    return server
  }

  async #connect({ url, mqttUrl }: ServerProcess): Promise<void> {
    await Promise.all([
      ...this.#sessions.map(session => session.connect(mqttUrl)),
      ...this.#readers.map(reader => reader.connect(url)),
    ])
  }

  async #loadUntilKilled(server: ServerProcess, point: string): Promise<void> {
    const { url, mqttUrl } = server
    const isRandom = point === 'random moment'
    const sizes = isRandom ? 'mostly small' : 'one'
    await Promise.all(this.#sessions.filter(({ habit }) => habit === 'away').map(session => session.leave()))
    const isRare = point.endsWith('the cursor of a session is saved')
    await this.#server.order(server, point, Math.floor(Math.random() * (isRare ? 4 : 20)))
    if (isRandom) void delay(20 + Math.random() * 200).then(() => server.kill())
    const load = runLoad({
      ...{ url, mqttUrl, things: this.#things, devices: this.#devices, ledger: this.#ledger },
      ...{ run: `s${++this.#round}`, connections: 4, sizes, writes: writes[sizes] },
      // What is stored twice has no place in the order.
      kinds: ['with datetimes', 'with an id'],
    })
    const restless = [...this.#sessions, ...this.#readers].filter(({ habit }) => habit === 'restless')
    await this.#server.gone(
      Promise.all([
        load,
        ...restless.map(each => comeAndGo(each, server)),
        ...this.#things.map(thing => tell(thing, server)),
      ]),
      reachedWithin,
    )
  }

  /** Sends again what was not acked, and waits until everyone has everything. */
  async #settle(): Promise<void> {
    const server = await this.#begin()
    await this.#connect(server)
    await resumeAll(this.#devices, server)
    const connection = new Connection(server.url)
    for (const write of this.#ledger.withOutcome('uncertain')) {
      this.#ledger.resend(write)
      await postWrite(connection, this.#things, this.#ledger, write)
    }
    connection.close()
    for (const thing of this.#things) await this.#waitForAll(thing, await storedValues(server, [thing]))
  }

  async #waitForAll({ thingId }: Thing, stored: readonly string[]): Promise<void> {
    const firsts = stored.filter(value => value.endsWith('-0'))
    const receivers = this.#receivers.filter(receiver => receiver.thingId === thingId)
    const waiting = receivers.map(async receiver => {
      const left = await receiver.until(receiver.wanted === 'values' ? stored : firsts, this.#deadline)
      if (left.length > 0)
        this.#missing.push(`${receiver.name}: ${left.length} never came, such as ${left[0]}`)
    })
    await Promise.all(waiting)
  }

  async #checkOrder(): Promise<void> {
    const orders = await commitOrders(this.#server.dataDir)
    for (const receiver of this.#receivers) {
      receiver.check(orders.get(receiver.thingId) ?? { values: [], writes: [] })
    }
  }
}

/** Until the server is gone: writes that are not kept, whose numbers others are given after the kill. */
async function tell({ thingToken }: Thing, { url }: ServerProcess): Promise<void> {
  const connection = new Connection(url)
  const body = JSON.stringify({ values: [{ key: fleeting, value: fleeting }], store: false })
  try {
    for (;;) {
      await connection.post(`/v2/things/${thingToken}`, body)
      await delay(Math.random() * 20)
    }
  } catch {
    connection.close()
  }
}

/** Until the server is gone. */
async function comeAndGo(receiving: LiveSession | EventReader, server: ServerProcess): Promise<void> {
  try {
    for (;;) {
      await delay(10 + Math.random() * 50)
      await receiving.leave()
      await receiving.connect(receiving instanceof LiveSession ? server.mqttUrl : server.url)
    }
  } catch {
    // The server is gone.
  }
}
