import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../helpers/http-client.ts'
import {
  type ConnectOptions,
  connectAccepted,
  type MqttAddress,
  type MqttClient,
} from '../../helpers/mqtt-client.ts'
import { sessionIn, type Version, versionNames, WriteForm } from '../../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { within } from '../../helpers/waiting.ts'
import { untilDone } from '../../rig/participant.ts'
import { type LiveValues, SentWrites, type Views } from './views.ts'

/** What a client does with its connection to the paused node before it goes to the other one. */
const oldConnections = ['stays open', 'is closed', 'is reset'] as const

export interface RoundPlan {
  /** Milliseconds. */
  readonly pause: number
  /** After so many milliseconds of the pause the clients go to the other node. */
  readonly moveAfter: number
  readonly oldConnection: (typeof oldConnections)[number]
}

/** Milliseconds without a heartbeat up to which a node is alive in any case, and behind which it is dead in any case. */
const aliveFor = 18_000
const deadAfter = 27_500

/** Milliseconds. Behind 10 s another node leads, behind 25 s the paused one counts as dead. */
const pauses = [1, 2, 3, 1.5, 6, 12, 1, 4, 28, 2, 8, 3, 16, 1, 35, 5, 2, 22, 1, 40].map(
  seconds => seconds * 1_000,
)
/** Behind this the clients of every second round come when the node counts as dead. */
const late = 28_500

/** @param number from 0, over all services */
export function planOf(number: number): RoundPlan {
  const turn = Math.floor(number / pauses.length)
  const pause = pauses[number % pauses.length] ?? 1_000
  const oldConnection = oldConnections[(number + turn) % oldConnections.length] ?? 'stays open'
  return { pause, oldConnection, moveAfter: pause > late && turn % 2 === 1 ? late : 0 }
}

/** One pause of a node: who is paused, and how far it has come. */
export class PausedRound {
  readonly plan: RoundPlan
  readonly pausing: ServerProcess
  readonly other: ServerProcess
  #stoppedAt = Number.POSITIVE_INFINITY
  #isResumed = false

  constructor(plan: RoundPlan, nodes: { readonly pausing: ServerProcess; readonly other: ServerProcess }) {
    this.plan = plan
    this.pausing = nodes.pausing
    this.other = nodes.other
  }

  /** Whether the node stands still, so that what was sent to it since it did lies in its sockets. */
  get isPaused(): boolean {
    return this.#stoppedAt < Number.POSITIVE_INFINITY && !this.#isResumed
  }

  /** Whether the other node takes the paused one for dead at this moment; undefined: that is not certain. */
  get countsAsDead(): boolean | undefined {
    const silent = performance.now() - this.#stoppedAt
    if (this.#isResumed || silent < aliveFor) return false
    return silent > deadAfter ? true : undefined
  }

  /** SIGSTOP. @param send called right before it, so that what is sent then is under way. Resolves when the node stands still */
  async stop(send: () => void): Promise<void> {
    send()
    // The node is to have read it, in most rounds.
    await delay(Math.random() * 3)
    const { pid } = this.pausing.process
    this.pausing.process.kill('SIGSTOP')
    while (!/\) T /.test(await readFile(`/proc/${pid}/stat`, 'utf8'))) await delay(1)
    this.#stoppedAt = performance.now()
  }

  async wait(milliseconds: number): Promise<void> {
    await delay(Math.max(0, this.#stoppedAt + milliseconds - performance.now()))
  }

  /** SIGCONT. */
  resume(): void {
    this.#isResumed = true
    this.pausing.process.kill('SIGCONT')
  }

  /** Ends a connection to the paused node as is planned. */
  part({ stream }: MqttClient): void {
    if (this.plan.oldConnection === 'is closed') stream.end()
    if (this.plan.oldConnection === 'is reset' && 'resetAndDestroy' in stream) {
      ;(stream as unknown as { resetAndDestroy(): void }).resetAndDestroy()
    }
  }
}

/** A connection may be silent for longer than any pause, milliseconds. */
const silence = 120_000
/** Within which a node that runs again has closed a connection that another one has taken over, milliseconds. */
const closedWithin = 15_000

/**
 * What a client does in a round; each step ends with a `yield`:
 *
 * 1. connects to the node that will be paused, and uses it;
 * 2. sends what is to be under way when the node is paused, at once;
 * 3. sends what then lies in the sockets of the node, at once;
 * 4. goes to the other node, finishes there what was not acknowledged, and goes on;
 * 5. the node runs again: goes on once more. Gives what is wrong, in words.
 */
export type Steps = AsyncGenerator<undefined, readonly string[]>

export type Session = 'clean' | 'persistent' | 'anonymous'

/** Where a client is: `live` at the node that is not paused, since before the first write. */
export interface Place {
  readonly round: PausedRound
  /** Of its connections. */
  readonly version: Version
  /** Its own. */
  readonly thing: Thing
  readonly live: LiveValues
}

type ConnectionOptions = ConnectOptions & Omit<MqttAddress, 'url'>

/** A client of one kind, for one round, with the connections of its client id. Whoever makes it ends it. */
export abstract class PauseClient implements Views {
  readonly name: string
  readonly round: PausedRound
  readonly nodes: readonly ServerProcess[]
  readonly thing: Thing
  readonly live: LiveValues
  readonly sent = new SentWrites()
  readonly version: Version
  /** Of the latest connection. */
  form: WriteForm
  readonly #options: ConnectionOptions
  /** To the node that is paused. */
  #first: MqttClient | undefined
  #client: MqttClient | undefined
  /** Whether the other node took the client over while the first one stood still, so that no bytes left there may count. */
  isTakenOver = false

  constructor({ round, version, thing, live }: Place, name: string, session: Session) {
    this.name = `${name}, ${versionNames[version]}`
    this.version = version
    this.form = new WriteForm(version)
    this.round = round
    this.nodes = [round.pausing, round.other]
    this.thing = thing
    this.live = live
    const credential = session === 'anonymous' ? {} : { username: 'device', password: thing.thingToken }
    this.#options = { clientId: name, ...sessionIn(version, session === 'persistent'), ...credential }
  }

  abstract steps(): Steps

  /** The latest. @throws Error before the first */
  get client(): MqttClient {
    if (!this.#client) throw new Error(`${this.#options.clientId} was not connected`)
    return this.#client
  }

  /** Connects to the node that will be paused. */
  async begin(more: ConnectionOptions = {}): Promise<void> {
    await this.connect(this.round.pausing, more)
    this.#first = this.client
  }

  /**
   * Connects, perhaps not at once: a node may have to learn first that it is not dead.
   *
   * @returns at which attempt. One before may have been accepted without a CONNACK: then its will is written.
   */
  async connect(server: ServerProcess, more: ConnectionOptions = {}): Promise<number> {
    let attempts = 0
    await untilDone(async () => {
      attempts++
      const options = { ...this.#options, ...more }
      this.#client = await connectAccepted({ url: server.mqttUrl, deadline: silence, ...options })
      this.form = new WriteForm(this.version)
    })
    return attempts
  }

  /** Leaves the paused node as planned, and connects to the other one. @returns as `connect` */
  async move(more: ConnectionOptions = {}): Promise<number> {
    if (this.#first) this.round.part(this.#first)
    return await this.connect(this.round.other, more)
  }

  /** The other node holds the client now. */
  takenOver(): void {
    this.isTakenOver = this.round.isPaused
  }

  /**
   * Faults of the first connection, when the node runs again, in words.
   *
   * @param unread acks, such as `puback 7`, of what the node had not read when the other one took the client over
   */
  async checkFirst(...unread: readonly string[]): Promise<readonly string[]> {
    const first = this.#first
    if (!first || this.round.plan.oldConnection !== 'stays open') return []
    const closing = within(first.closed, 'its end', closedWithin)
    const isClosed = await closing.then(() => true).catch(() => false)
    const acked = this.isTakenOver ? unread.filter(ack => first.acknowledgements.includes(ack)) : []
    return [
      ...acked.map(ack => `${ack} came over the old connection, though another node has the client`),
      ...(isClosed ? [] : [`the old connection is open after ${closedWithin} ms`]),
    ]
  }

  async end(): Promise<void> {
    await this.#first?.destroy()
    await this.#client?.destroy()
    await this.live.end()
  }
}
