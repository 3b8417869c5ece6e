import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../helpers/http-client.ts'
import { post, reasonOf } from '../helpers/http-connection.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { createDevices, type Device } from './device.ts'
import { Household } from './household.ts'
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
  /** Whether the devices are those of a source, with one credential, in the place of things. */
  readonly isHousehold?: boolean
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
  #household: Household | undefined
  /** Those that have connected and published nothing. */
  readonly #fresh = new Set<Device>()
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
    const { things, devices, isHousehold } = this.setup
    if (this.devices.length === 0) {
      if (isHousehold) this.#household = await Household.create(this.#service.node(0), devices)
      else this.things = await this.#service.createThings(things)
      const credentials = this.#household ? [this.#household.credential] : this.things
      this.devices = createDevices(credentials, devices, this.ledger)
    }
    // In the round before they may have gone to other nodes.
    await Promise.all(
      this.devices.map(async (device, place) => {
        await device.destroy()
        await this.#connect(device, place)
      }),
    )
    if (this.#household && round > 1 && Math.random() < 0.5) await this.#swapNames(this.#household)
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
    const { values, wrong } = await this.#storedAt(server)
    this.kept = wholeWrites(this.ledger.withOutcome(['uncertain'], this.#startedAt), values)
    return [...this.ledger.violations(values), ...wrong]
  }

  async check(): Promise<readonly string[]> {
    const open = this.devices.filter(({ inFlight }) => inFlight.length > 0)
    const { values, wrong } = await this.#storedAt(this.#service.node(0))
    return [
      ...this.ledger.violations(values),
      ...wrong,
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

  /** Every value, and what is wrong with the things, in words. */
  async #storedAt(server: ServerProcess): Promise<{ values: string[]; wrong: readonly string[] }> {
    if (this.#household) return await this.#household.look(server)
    const values = await storedValues(server, this.things)
    return { values: values.filter(value => value !== fleeting), wrong: [] }
  }

  async #post(place: number): Promise<void> {
    while (!this.#isStopped) {
      const write = this.#planFor('HTTP', place, place % this.things.length)
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
      if (await this.#publishNext(device, this.#plan(device, place, thing))) await delay(this.setup.rest)
    }
    await untilDone(async () => {
      if (!device.isConnected) await this.#comeBack(device, place)
      await device.idle()
    }).catch((error: Error) => this.ledger.breach(error.message))
  }

  /** Of a household, one write in eight at QoS 0. @returns as of `Device.publish` */
  async #publishNext(device: Device, write: PlannedWrite): Promise<boolean> {
    if (!this.#household || Math.random() > 1 / 8) return await device.publish(write)
    // What is not acked may be there or not.
    if (write.values.length > 0 && !write.retain) device.publishUnacked(write)
    return device.isConnected
  }

  /** Whichever node the clients are at, it gets the list of devices before it gets readings. */
  async #swapNames(household: Household): Promise<void> {
    household.swapNames()
    await Promise.all(
      this.devices.map(async (device, place) => {
        const number = this.#number
        this.#number += 2
        await device.publish(
          household.announce({ run: this.#run, way: device.way, place, number: number - (number % 2) }),
        )
        await device.idle()
      }),
    )
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
      this.#fresh.add(device)
    })
  }

  #plan(device: Device, place: number, thing: number): PlannedWrite {
    const reading = { run: this.#run, way: device.way, place, number: this.#number }
    const isFresh = this.#fresh.delete(device)
    if (!this.#household) return this.#planFor(device.way, place, thing)
    this.#number++
    return isFresh ? this.#household.repeat(reading) : this.#household.plan(reading)
  }

  #planFor(way: Way, place: number, thing: number): PlannedWrite {
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
