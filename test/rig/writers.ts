import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../helpers/http-client.ts'
import { post, reasonOf } from '../helpers/http-connection.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { createDevices, type Device } from './device.ts'
import { fleeting, Ledger, storedValues, wholeWrites } from './ledger.ts'
import { deadline, type Participant, pause, untilDone } from './participant.ts'
import type { Service } from './server.ts'
import {
  doorOf,
  isAtQos,
  type PlannedWrite,
  planWrite,
  type Sizes,
  type Way,
  type WriteKind,
  wayOf,
  writeKinds,
} from './writes.ts'

/** Which client has sent a write of this name, over whatever way. */
export function clientOf(name: string): string {
  const [run = '', , place = ''] = name.split('-')
  return `${run} ${doorOf(wayOf(name) ?? 'HTTP')} ${place}`
}

export interface WritersSetup {
  readonly name: string
  readonly things: number
  /** Over MQTT, half of them in version 5; every third of a thing has a clean session. */
  readonly devices: number
  /** Over HTTP. */
  readonly connections: number
  /** Of each of them before its next write, milliseconds. */
  readonly rest: number
  readonly sizes: Sizes
  /** Of the writes. Without `plain`, none may be stored twice (contract §4, resend). Default: all. */
  readonly kinds?: readonly WriteKind[]
  /** Whether others write what is delivered and not stored. */
  readonly hasFleeting?: boolean
}

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
  readonly ledger = new Ledger()
  things: readonly Thing[] = []
  devices: readonly Device[] = []
  /** Of those that were not acknowledged when a server ended, since the load was started last, which were there whole. */
  kept: readonly PlannedWrite[] = []
  readonly setup: WritersSetup
  /** Of the writes from now on. */
  sizes: Sizes
  readonly #service: Service
  /** To which each is, or was last, connected. */
  readonly #nodes = new Map<Device, ServerProcess>()
  #run = ''
  #number = 0
  #startedAt = 0
  /** When a write of a thing may have an id again, by the monotonic clock. */
  readonly #nextIdAt: number[] = []
  #isStopped = false
  readonly #answers = new Map<string, number>()
  #working: Promise<unknown> = Promise.resolve()

  constructor(service: Service, setup: WritersSetup) {
    this.#service = service
    this.setup = setup
    this.sizes = setup.sizes
    this.name = setup.name
  }

  async begin(round: number): Promise<void> {
    this.#run = `n${round}`
    this.#isStopped = false
    const { things, devices } = this.setup
    if (this.things.length === 0) {
      this.things = await this.#service.createThings(things)
      this.devices = createDevices(this.things, devices, this.ledger)
    }
    // In the round before they may have gone to other nodes.
    await Promise.all(
      this.devices.map(async (device, place) => {
        await device.destroy()
        await this.#connect(device, place)
      }),
    )
  }

  start(): void {
    this.#startedAt = performance.now()
    this.kept = []
    const posting = Array.from({ length: this.setup.connections }, (_, place) => this.#post(place))
    const publishing = this.devices.map((device, place) => this.#publish(device, place))
    const fleeting = this.setup.hasFleeting ? this.things.map(thing => this.#postFleeting(thing)) : []
    this.#working = Promise.all([...posting, ...publishing, ...fleeting])
    // Whoever stops it gets the error.
    this.#working.catch(() => {})
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#working
  }

  /** What was answered otherwise than with 201 or CONNACK 0, and that nodes closed connections, since the last call. */
  takeAnswers(): Readonly<Record<string, number>> {
    const answers = Object.fromEntries(this.#answers)
    this.#answers.clear()
    return answers
  }

  /** Before anything is sent again. */
  async look(server: ServerProcess): Promise<readonly string[]> {
    const stored = await this.#storedAt(server)
    this.kept = wholeWrites(this.ledger.withOutcome(['uncertain'], this.#startedAt), stored)
    return this.ledger.violations(stored)
  }

  async check(): Promise<readonly string[]> {
    const open = this.devices.filter(({ inFlight }) => inFlight.length > 0)
    return [
      ...this.ledger.violations(await this.#storedAt(this.#service.node(0))),
      ...open.map(({ clientId }) => `${clientId}: a handshake is not over`),
    ]
  }

  async end(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.devices.map(device => device.destroy()))
  }

  /** Writes one record more to each thing. */
  async mark(): Promise<void> {
    const common = { run: this.#run, way: 'HTTP', place: 0, sizes: 'one', kinds: ['with an id'] } as const
    await Promise.all(
      this.things.map(async (_, thing) => {
        const write = planWrite({ ...common, number: this.#number++, thing })
        this.ledger.add(write)
        await this.#postUntilSettled(write, 0)
      }),
    )
  }

  async #storedAt(server: ServerProcess): Promise<string[]> {
    return (await storedValues(server, this.things)).filter(value => value !== fleeting)
  }

  async #post(place: number): Promise<void> {
    while (!this.#isStopped) {
      const write = this.#plan('HTTP', place, place % this.things.length)
      await this.#service.reach(place)
      this.ledger.add(write)
      await this.#postUntilSettled(write, place)
      await delay(this.setup.rest)
    }
  }

  async #postUntilSettled(write: PlannedWrite, place: number): Promise<void> {
    const until = performance.now() + deadline
    for (let attempt = 0; performance.now() < until; attempt++) {
      const { url } = await this.#service.reach(place + attempt)
      const { thingToken } = this.things[write.thing] ?? {}
      const answer = await post(`${url}/v2/things/${thingToken}`, write.body).catch(() => undefined)
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

  /** Until the load is stopped: a number of it others are given after a kill. */
  async #postFleeting({ thingToken }: Thing): Promise<void> {
    const body = JSON.stringify({ values: [{ key: fleeting, value: fleeting }], store: false })
    while (!this.#isStopped) {
      const { url } = await this.#service.reach(0)
      await post(`${url}/v2/things/${thingToken}`, body).catch(() => {})
      await delay(Math.random() * 20)
    }
  }

  async #publish(device: Device, place: number): Promise<void> {
    const { place: thing } = device.setup
    while (!this.#isStopped) {
      if (!device.isConnected) await this.#comeBack(device, place)
      if (await device.publish(this.#plan(device.way, place, thing))) await delay(this.setup.rest)
    }
    await untilDone(async () => {
      if (!device.isConnected) await this.#comeBack(device, place)
      await device.idle()
    }).catch((error: Error) => this.ledger.breach(error.message))
  }

  async #comeBack(device: Device, place: number): Promise<void> {
    const node = this.#nodes.get(device)
    await this.#connect(device, place)
    // A server that kills itself is seen to be gone behind its connections.
    if (node && this.#service.has(node)) this.#count(`${device.versionName}: closed by a node that is there`)
  }

  async #connect(device: Device, place: number): Promise<void> {
    await untilDone(async number => {
      // Neighbours, of which one is of version 5, go to the same node.
      const node = await this.#service.reach(Math.floor(place / 2) + number)
      const returnCode = await device.connect(node.mqttUrl)
      if (returnCode !== 0) {
        this.#count(`${device.versionName}: CONNACK ${returnCode}`)
        throw new Error(`${device.clientId}: CONNACK ${returnCode}`)
      }
      this.#nodes.set(device, node)
    })
  }

  #plan(way: Way, place: number, thing: number): PlannedWrite {
    const { kinds = writeKinds } = this.setup
    // At QoS 2 nothing is stored twice, whatever is in it.
    const possible = isAtQos(2, way) ? [...new Set<WriteKind>(['plain', ...kinds])] : kinds
    const now = performance.now()
    const mayHaveId = now >= (this.#nextIdAt[thing] ?? 0)
    if (mayHaveId) this.#nextIdAt[thing] = now + betweenIds
    const allowed = possible.filter(kind => mayHaveId || kind !== 'with an id')
    return planWrite({
      run: this.#run,
      way,
      place,
      number: this.#number++,
      thing,
      sizes: this.sizes,
      kinds: allowed,
    })
  }

  #count(answer: string): void {
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1)
  }
}
