import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { HttpConnection } from '../helpers/http-connection.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { commitOrders } from './commit-order.ts'
import type { Device } from './device.ts'
import { EventReader } from './event-reader.ts'
import { Ledger } from './ledger.ts'
import { type Habit, LiveSession } from './live-session.ts'
import { type LoadSetup, postWrite, runLoad } from './load.ts'
import { fleeting, type Receiver } from './receiver.ts'
import { createDevices, resumeAll } from './served.ts'
import { storedValues } from './stored-values.ts'

const mostTries = 20
const habits: readonly Habit[] = ['staying', 'away', 'restless', 'lagging']
/** Of each way, of one record each or of many: fewer messages than a session may miss. */
const writes = { one: 150, 'mostly small': 25 } as const

export interface AudienceLoad extends Pick<LoadSetup, 'onAnswer' | 'onConnack'> {
  readonly sizes: keyof typeof writes
  /** It does not end before the server is gone. */
  readonly isToDie: boolean
}

/** Devices that write to two things, and persistent sessions and streams on them, over many lives of a server. */
export class Audience {
  readonly #deadline: number
  readonly #ledger = new Ledger()
  #things: readonly Thing[] = []
  #devices: readonly Device[] = []
  #sessions: readonly LiveSession[] = []
  #readers: readonly EventReader[] = []
  readonly #missing: string[] = []
  #round = 0

  /** @param deadline for what was stored to be received, milliseconds */
  constructor(deadline: number) {
    this.#deadline = deadline
  }

  /** Acked so far. */
  get acks(): number {
    return this.#ledger.acks()
  }

  /** Everything that is wrong so far, in words; in what order things came, only up to the last `checkOrder`. */
  get violations(): readonly string[] {
    // A stream that is resumed shows nothing again (contract §8).
    const again = this.#readers.flatMap(({ receiver: { name, repeated } }) => {
      return repeated > 0 ? [`${name}: ${repeated} writes came again`] : []
    })
    return [...this.#missing, ...again, ...this.#receivers.flatMap(({ violations }) => violations)]
  }

  /** Messages that came again. */
  get repeated(): number {
    return this.#receivers.reduce((sum, { repeated }) => sum + repeated, 0)
  }

  get #receivers(): readonly Receiver[] {
    return [...this.#sessions, ...this.#readers].map(({ receiver }) => receiver)
  }

  /** Registers the things, and connects everyone for the first time; nothing if that is done. */
  async begin(server: ServerProcess): Promise<void> {
    if (this.#things.length > 0) return
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
    await this.connect(server)
  }

  async connect({ url, mqttUrl }: ServerProcess): Promise<void> {
    await Promise.all([
      ...this.#sessions.map(session => insist(() => session.connect(mqttUrl))),
      ...this.#readers.map(reader => insist(() => reader.connect(url))),
    ])
  }

  /** Connects who was away, or came and went, on a server that was there all the time; others are to be connected still. */
  async reconnect({ url, mqttUrl }: ServerProcess): Promise<void> {
    for (const each of [...this.#sessions, ...this.#readers]) {
      const hasToStay = each.habit === 'staying' || each.habit === 'lagging'
      const isGone = await Promise.race([each.closed.then(() => true), nextTurn(false)])
      if (hasToStay && !isGone) continue
      if (hasToStay) each.receiver.breach('was closed by a server that was there')
      await each.leave()
      await insist(() => each.connect(each instanceof LiveSession ? mqttUrl : url))
    }
  }

  /** Ends the connections of the sessions and streams. */
  async leave(): Promise<void> {
    for (const receiving of [...this.#sessions, ...this.#readers]) await receiving.leave()
  }

  /** Ends the connections of those sessions that are away while others write. */
  async leaveAway(): Promise<void> {
    const away = this.#sessions.filter(({ habit }) => habit === 'away')
    await Promise.all(away.map(session => session.leave()))
  }

  /** Writes, while restless sessions and streams come and go: as much as a session may miss. */
  async load(server: ServerProcess, { sizes, isToDie, ...watch }: AudienceLoad): Promise<void> {
    const { url, mqttUrl } = server
    const ended = new AbortController()
    const load = runLoad({
      ...{ url, mqttUrl, things: this.#things, devices: this.#devices, ledger: this.#ledger },
      ...{ run: `s${++this.#round}`, connections: 4, sizes, writes: writes[sizes] },
      // What is stored twice has no place in the order.
      kinds: ['with datetimes', 'with an id'],
      ...watch,
    })
    const restless = [...this.#sessions, ...this.#readers].filter(({ habit }) => habit === 'restless')
    await Promise.all([
      load.finally(() => isToDie || ended.abort()),
      ...restless.map(each => comeAndGo(each, server, ended.signal)),
      ...this.#things.map(thing => tell(thing, server, ended.signal)),
    ])
  }

  /** Sends again what was not acked, and waits until everyone who is connected has everything. */
  async settle(server: ServerProcess): Promise<void> {
    await insist(() => resumeAll(this.#devices, server))
    const connection = new HttpConnection(server.url)
    for (const write of this.#ledger.withOutcome('uncertain')) {
      this.#ledger.resend(write)
      await postWrite(connection, this.#things, this.#ledger, write)
    }
    connection.close()
    for (const thing of this.#things) await this.#waitForAll(thing, await storedValues(server, [thing]))
  }

  /** What the ledger has against the store, in words. */
  async checkStored(server: ServerProcess): Promise<readonly string[]> {
    const stored = await storedValues(server, this.#things)
    const found = this.#ledger.check(stored.filter(value => value !== fleeting))
    return Object.entries(found).flatMap(([what, names]) => names.map((name: string) => `${what}: ${name}`))
  }

  /** Compares what was received with the order of the store, which no server has open. */
  async checkOrder(dataDir: string): Promise<void> {
    const orders = await commitOrders(dataDir)
    for (const receiver of this.#receivers) {
      receiver.check(orders.get(receiver.thingId) ?? { values: [], writes: [] })
    }
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
}

/** Tries again, as clients do, while the store is late: as it is on a disk that has much to do. */
async function insist(connect: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await connect()
    } catch (error) {
      if (tries === mostTries || !/CONNACK 3|no stream: 503/.test(String(error))) throw error
      await delay(500)
    }
  }
}

/** Writes what is not kept, until the load has ended or the server is gone: a number of it others are given after a kill. */
async function tell({ thingToken }: Thing, { url }: ServerProcess, ended: AbortSignal): Promise<void> {
  const connection = new HttpConnection(url)
  const body = JSON.stringify({ values: [{ key: fleeting, value: fleeting }], store: false })
  try {
    while (!ended.aborted) {
      await connection.post(`/v2/things/${thingToken}`, body)
      await delay(Math.random() * 20)
    }
  } catch {
    // The server is gone.
  } finally {
    connection.close()
  }
}

/** Until the load has ended, when it is there, or the server is gone. */
async function comeAndGo(
  receiving: LiveSession | EventReader,
  server: ServerProcess,
  ended: AbortSignal,
): Promise<void> {
  try {
    while (!ended.aborted) {
      await delay(10 + Math.random() * 50)
      await receiving.leave()
      await receiving.connect(receiving instanceof LiveSession ? server.mqttUrl : server.url)
    }
  } catch {
    // The server is gone.
  }
}
