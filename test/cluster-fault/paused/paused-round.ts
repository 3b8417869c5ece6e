import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'

/** What a client does with its connection to the paused node before it goes to the other one. */
export const oldConnections = ['stays open', 'is closed', 'is reset'] as const
export type OldConnection = (typeof oldConnections)[number]

export interface RoundPlan {
  /** Milliseconds. */
  readonly pause: number
  /** After so many milliseconds of the pause the clients go to the other node. */
  readonly moveAfter: number
  readonly oldConnection: OldConnection
}

/** Milliseconds without a heartbeat up to which a node is alive in any case, and behind which it is dead in any case. */
const aliveFor = 18_000
const deadAfter = 27_500

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

  get nodes(): readonly ServerProcess[] {
    return [this.pausing, this.other]
  }

  /** Whether the node stands still, so that what was sent to it since it did lies in its sockets. */
  get isPaused(): boolean {
    return this.#stoppedAt < Number.POSITIVE_INFINITY && !this.#isResumed
  }

  /** How the other node holds the paused one at this moment; undefined: that is not certain. */
  get isHeldForDead(): boolean | undefined {
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
