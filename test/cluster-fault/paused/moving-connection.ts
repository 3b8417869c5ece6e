import {
  type ConnectOptions,
  connectAccepted,
  type MqttAddress,
  type MqttClient,
} from '../../helpers/mqtt-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { within } from '../../helpers/waiting.ts'
import { untilDone } from '../participant.ts'
import type { PausedRound } from './paused-round.ts'

/** A connection may be silent for longer than any pause, milliseconds. */
export const silence = 120_000
/** Within which a node that runs again has closed a connection that another one has taken over, milliseconds. */
const closedWithin = 15_000

export type ConnectionOptions = ConnectOptions & Omit<MqttAddress, 'url'>

/** The connections of one client id: first to the node that is paused, then to the other one. */
export class MovingConnection {
  readonly #round: PausedRound
  readonly #options: ConnectionOptions
  #first: MqttClient | undefined
  #client: MqttClient | undefined
  #isTakenOver = false

  constructor(round: PausedRound, options: ConnectionOptions) {
    this.#round = round
    this.#options = options
  }

  /** The latest. @throws Error before the first */
  get client(): MqttClient {
    if (!this.#client) throw new Error(`${this.#options.clientId} was not connected`)
    return this.#client
  }

  /** Whether the other node took the client over while the first one stood still, so that no bytes left there may count. */
  get isTakenOver(): boolean {
    return this.#isTakenOver
  }

  /** Connects to the node that will be paused. */
  async begin(more: ConnectionOptions = {}): Promise<void> {
    await this.connect(this.#round.pausing, more)
    this.#first = this.client
  }

  /**
   * Connects, perhaps not at once: a node may have to learn first that it is not dead.
   *
   * @returns at which attempt. One before may have been accepted without being told so: then its will is written.
   */
  async connect(server: ServerProcess, more: ConnectionOptions = {}): Promise<number> {
    let attempts = 0
    await untilDone(async () => {
      attempts++
      const options = { ...this.#options, ...more }
      this.#client = await connectAccepted({ url: server.mqttUrl, deadline: silence, ...options })
    })
    return attempts
  }

  /** Leaves the paused node as planned, and connects to the other one. @returns as `connect` */
  async move(more: ConnectionOptions = {}): Promise<number> {
    if (this.#first) this.#round.part(this.#first)
    return await this.connect(this.#round.other, more)
  }

  /** The other node holds the client now. */
  takenOver(): void {
    this.#isTakenOver = this.#round.isPaused
  }

  /**
   * What is wrong with the first connection, when the node runs again, in words.
   *
   * @param unread acks, such as `puback 7`, of what the node had not read when the other one took the client over
   */
  async checkFirst(...unread: readonly string[]): Promise<readonly string[]> {
    const first = this.#first
    if (!first || this.#round.plan.oldConnection !== 'stays open') return []
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
  }
}
