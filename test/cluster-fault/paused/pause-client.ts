import { createThing, type Thing } from '../../helpers/http-client.ts'
import { LiveValues } from './live-values.ts'
import { type ConnectionOptions, MovingConnection } from './moving-connection.ts'
import type { PausedRound } from './paused-round.ts'
import { checkViews, type ResourceViews } from './resource-views.ts'
import { SentWrites } from './sent-writes.ts'

interface Begun {
  readonly round: PausedRound
  readonly thing: Thing
  /** At the other node. */
  readonly told: LiveValues
  readonly connection: MovingConnection
}

/** A client of one kind, for one round, with a thing of its own. Whoever makes it ends it. */
export abstract class PauseClient {
  abstract readonly name: string
  protected readonly sent = new SentWrites()
  #begun: Begun | undefined

  /** Resolves when it is connected to the node that will be paused, and has used it. */
  async begin(round: PausedRound): Promise<void> {
    const thing = await createThing(round.other)
    const told = await LiveValues.at(round.other, thing)
    const connection = new MovingConnection(round, this.optionsOf(thing))
    this.#begun = { round, thing, told, connection }
    await this.start(this.#begun)
  }

  /** Sends what is to be under way when the node is paused. */
  sendInFlight(): void {}

  /** Sends what then lies in the sockets of the node. */
  abstract sendWhilePaused(): void

  /** Goes to the other node, finishes there what was not acknowledged, and goes on. */
  abstract move(): Promise<void>

  /** The node runs again: goes on once more. Gives what is wrong, in words. */
  abstract check(): Promise<readonly string[]>

  async end(): Promise<void> {
    await this.#begun?.connection.end()
    await this.#begun?.told.end()
  }

  protected abstract optionsOf(thing: Thing): ConnectionOptions

  protected abstract start(begun: Begun): Promise<void>

  protected get begun(): Begun {
    if (!this.#begun) throw new Error('it has not begun')
    return this.#begun
  }

  /** What there is to see of a resource. */
  protected get views(): Omit<ResourceViews, 'key'> {
    const { round, thing, told } = this.begun
    return { nodes: round.nodes, thing, sent: this.sent, told }
  }

  /** As `checkViews`. */
  protected checkViews(key: string): Promise<readonly string[]> {
    return checkViews({ ...this.views, key })
  }
}
