import { setTimeout as delay } from 'node:timers/promises'
import type { Device } from '../fault/device.ts'
import { Ledger, type Outcome } from '../fault/ledger.ts'
import {
  type PlannedWrite,
  planWrite,
  type Sizes,
  type Way,
  type WriteKind,
  writeKinds,
} from '../fault/planned-write.ts'
import { createDevices } from '../fault/served.ts'
import { storedValues } from '../fault/stored-values.ts'
import type { Thing } from '../helpers/http-client.ts'
import { HttpConnection, reasonOf } from '../helpers/http-connection.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { deadline, type Participant, pause, untilDone } from './participant.ts'
import type { Service } from './service.ts'

/** Times on the clock of `performance.now()`, milliseconds. */
export interface Ack {
  readonly name: string
  /** The last time. */
  readonly sentAt: number
  readonly at: number
}

/** A ledger that keeps when what was acknowledged. */
export class TimedLedger extends Ledger {
  /** In the order in which they were received: 201, PUBACK and PUBREC. */
  readonly acked: Ack[] = []
  readonly #sent = new Map<string, number>()

  override add(write: PlannedWrite): void {
    super.add(write)
    this.#sent.set(write.name, performance.now())
  }

  override resend(write: PlannedWrite): void {
    super.resend(write)
    this.#sent.set(write.name, performance.now())
  }

  override settle(write: PlannedWrite, outcome: Outcome): void {
    super.settle(write, outcome)
    const sentAt = this.#sent.get(write.name)
    // PUBCOMP comes after PUBREC.
    if (sentAt === undefined || outcome !== 'acked') return
    this.#sent.delete(write.name)
    this.acked.push({ name: write.name, sentAt, at: performance.now() })
  }
}

/** Which client has sent a write of this name, over whatever way. */
export function clientOf(name: string): string {
  const [run = '', way = '', place = ''] = name.split('-')
  return `${run} ${way === 'h' ? 'HTTP' : 'MQTT'} ${place}`
}

/** In words. @param stored every value in the store, as often as it is there */
export function violationsIn(ledger: Ledger, stored: readonly string[]): string[] {
  return Object.entries(ledger.check(stored)).flatMap(([kind, names]: [string, readonly string[]]) =>
    names.map(name => `${kind}: ${name}`),
  )
}

interface WritersSetup {
  readonly service: Service
  readonly name: string
  readonly things: number
  /** Over MQTT; every third of a thing has a clean session. */
  readonly devices: number
  /** Over HTTP. */
  readonly connections: number
  /** Of each of them before its next write, milliseconds. */
  readonly rest: number
  readonly sizes: Sizes
  /** Whether there is no write that may be stored twice (contract §4, resend). */
  readonly isUnique: boolean
}

const repeatable: readonly WriteKind[] = ['with datetimes', 'with an id']
/**
 * Between two writes of a thing that have an id, milliseconds: it remembers 1,000 of them (contract §4), and one that was sent
 * to a node without a store comes again within 30 s.
 */
const betweenIds = 40

/**
 * Writes through both doors of all nodes. A client whose node is gone, or has no store, goes to the next one, and sends
 * again what was not acknowledged and may be sent again.
 */
export class Writers implements Participant {
  readonly name: string
  readonly ledger = new TimedLedger()
  things: readonly Thing[] = []
  readonly #setup: WritersSetup
  #devices: readonly Device[] = []
  /** To which each is, or was last, connected. */
  readonly #nodes = new Map<Device, ServerProcess>()
  #round = ''
  #number = 0
  /** When a write of a thing may have an id again, by the monotonic clock. */
  readonly #nextIdAt: number[] = []
  #isStopped = false
  readonly #answers = new Map<string, number>()
  #working: Promise<unknown> = Promise.resolve()

  constructor(setup: WritersSetup) {
    this.#setup = setup
    this.name = setup.name
  }

  async begin(round: number): Promise<void> {
    this.#round = `n${round}`
    this.#isStopped = false
    const { service, things, devices } = this.#setup
    if (this.things.length === 0) {
      this.things = await service.createThings(things)
      this.#devices = createDevices(this.things, devices, this.ledger)
    }
    // In the round before they may have gone to other nodes.
    await Promise.all(
      this.#devices.map(async (device, place) => {
        await device.destroy()
        await this.#connect(device, place)
      }),
    )
  }

  start(): void {
    const posting = Array.from({ length: this.#setup.connections }, (_, place) => this.#post(place))
    const publishing = this.#devices.map((device, place) => this.#publish(device, place))
    this.#working = Promise.all([...posting, ...publishing])
    // Whoever stops it gets the error.
    this.#working.catch(() => {})
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#working
  }

  /** What was answered otherwise than with 201 or CONNACK 0, and that nodes closed connections, since the last call. */
  takeAnswers(): readonly string[] {
    const answers = [...this.#answers].map(([answer, count]) => `${count} times ${answer}`)
    this.#answers.clear()
    return answers
  }

  async check(): Promise<readonly string[]> {
    const stored = await storedValues(this.#setup.service.node(0), this.things)
    const devices = this.#devices.filter(({ inFlight }) => inFlight.length > 0)
    return [
      ...violationsIn(this.ledger, stored),
      ...devices.map(({ setup }) => `${setup.clientId}: a handshake is not over`),
    ]
  }

  async end(): Promise<void> {
    await Promise.all(this.#devices.map(device => device.destroy()))
  }

  /** Writes one record more to each thing. */
  async mark(): Promise<void> {
    const connections = new Map<string, HttpConnection>()
    const common = { run: this.#round, way: 'HTTP', place: 0, sizes: 'one', kinds: ['with an id'] } as const
    await Promise.all(
      this.things.map(async (_, thing) => {
        const write = planWrite({ ...common, number: this.#number++, thing })
        this.ledger.add(write)
        await this.#postUntilSettled(connections, write, 0)
      }),
    )
    for (const connection of connections.values()) connection.close()
  }

  async #post(place: number): Promise<void> {
    const connections = new Map<string, HttpConnection>()
    while (!this.#isStopped) {
      const write = this.#plan('HTTP', place, place % this.things.length)
      this.ledger.add(write)
      await this.#postUntilSettled(connections, write, place)
      await delay(this.#setup.rest)
    }
    for (const connection of connections.values()) connection.close()
  }

  async #postUntilSettled(
    connections: Map<string, HttpConnection>,
    write: PlannedWrite,
    place: number,
  ): Promise<void> {
    const until = performance.now() + deadline
    for (let attempt = 0; performance.now() < until; attempt++) {
      const { url } = this.#setup.service.node(place + attempt)
      const connection = connections.get(url) ?? new HttpConnection(url)
      connections.set(url, connection)
      const path = `/v2/things/${this.things[write.thing]?.thingToken}`
      const answer = await connection.post(path, write.body).catch(() => undefined)
      if (answer?.status === 201) {
        this.ledger.settle(write, 'acked')
        return
      }
      const reason = answer && reasonOf(answer)
      this.#count(answer ? `${answer.status} ${reason}` : 'no answer')
      // Nothing of it is kept; of what was sent before, something may be.
      if (answer && reason !== 'store_timeout' && attempt === 0) {
        this.ledger.settle(write, 'refused')
        return
      }
      if (!write.repeatable) return
      await delay(pause)
      this.ledger.resend(write)
    }
    this.ledger.breach(`${write.name}: not acked in the end`)
  }

  async #publish(device: Device, place: number): Promise<void> {
    const { isPersistent, place: thing } = device.setup
    while (!this.#isStopped) {
      if (!device.isConnected) await this.#comeBack(device, place)
      const way = isPersistent && Math.random() < 2 / 3 ? 'QoS 2' : 'QoS 1'
      if (await device.publish(this.#plan(way, place, thing))) await delay(this.#setup.rest)
    }
    await untilDone(async () => {
      if (!device.isConnected) await this.#comeBack(device, place)
      await device.idle()
    }).catch((error: Error) => this.ledger.breach(error.message))
  }

  async #comeBack(device: Device, place: number): Promise<void> {
    const node = this.#nodes.get(device)
    if (node && this.#setup.service.has(node)) this.#count('closed by a node that is there')
    await this.#connect(device, place)
  }

  async #connect(device: Device, place: number): Promise<void> {
    const { service } = this.#setup
    await untilDone(async number => {
      const node = service.node(place + number)
      const returnCode = await device.connect(node.mqttUrl)
      if (returnCode !== 0) {
        this.#count(`CONNACK ${returnCode}`)
        throw new Error(`${device.setup.clientId}: CONNACK ${returnCode}`)
      }
      this.#nodes.set(device, node)
    })
  }

  #plan(way: Way, place: number, thing: number): PlannedWrite {
    const { sizes, isUnique } = this.#setup
    // At QoS 2 nothing is stored twice, whatever is in it.
    const possible = isUnique && way !== 'QoS 2' ? repeatable : writeKinds
    const now = performance.now()
    const mayHaveId = now >= (this.#nextIdAt[thing] ?? 0)
    if (mayHaveId) this.#nextIdAt[thing] = now + betweenIds
    const kinds = possible.filter(kind => mayHaveId || kind !== 'with an id')
    return planWrite({ run: this.#round, way, place, number: this.#number++, thing, sizes, kinds })
  }

  #count(answer: string): void {
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1)
  }
}
