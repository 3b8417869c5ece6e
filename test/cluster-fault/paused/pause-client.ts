import type { PausedRound } from './paused-round.ts'

/** A client of one kind, for one round. Whoever makes it ends it. */
export interface PauseClient {
  readonly name: string
  /** Resolves when it is connected to the node that will be paused, and has used it. */
  begin(round: PausedRound): Promise<void>
  /** Sends what is to be under way when the node is paused. */
  sendInFlight(): void
  /** Sends what then lies in the sockets of the node. */
  sendWhilePaused(): void
  /** Goes to the other node, finishes there what was not acknowledged, and goes on. */
  move(): Promise<void>
  /** The node runs again: goes on once more. Gives what is wrong, in words. */
  check(): Promise<readonly string[]>
  end(): Promise<void>
}
