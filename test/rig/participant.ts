import { setTimeout as delay } from 'node:timers/promises'
import type { ServerProcess } from '../helpers/server-process.ts'

/** Clients of one kind, over all rounds. What they find wrong is everything since the first round, in words. */
export interface Participant {
  readonly name: string
  /** What has to be there before the round begins. @param round from 1 */
  begin?(round: number): Promise<void>
  /** Works on all nodes until `stop`, whatever becomes of them. */
  start?(): void
  /** Resolves when everybody has ended what was under way, or has given it up. */
  stop?(): Promise<void>
  /** Looks into a data directory that no server holds. */
  inspect?(dataDir: string): Promise<readonly string[]>
  /** Looks at a server that was started anew, before any client knows of it. */
  look?(server: ServerProcess): Promise<readonly string[]>
  /** Waits until all that was promised has come about. */
  check(): Promise<readonly string[]>
  /** What is looked at once, behind the last round. */
  last?(): Promise<readonly string[]>
  /** Closes what is still open. */
  end?(): Promise<void>
}

/** Before something is tried again, milliseconds. */
export const pause = 100
/** For anything that is promised to come about, milliseconds. */
export const deadline = 60_000

/** Tries again until it succeeds. @returns whether it has, before it was stopped @throws the last Error past the deadline */
export async function untilDone(
  attempt: (number: number) => Promise<unknown>,
  isStopped: () => boolean = () => false,
): Promise<boolean> {
  const until = performance.now() + deadline
  for (let number = 0; !isStopped(); number++) {
    try {
      await attempt(number)
      return true
    } catch (error) {
      if (performance.now() > until) throw error
    }
    await delay(pause)
  }
  return false
}

/** Looks again until nothing is wrong any more. @returns what still is past the deadline (milliseconds), in words */
export async function untilNothingWrong(
  look: () => Promise<readonly string[]>,
  within = deadline,
): Promise<readonly string[]> {
  const until = performance.now() + within
  for (;;) {
    const wrong = await look().catch((error: Error) => [error.message])
    if (wrong.length === 0 || performance.now() > until) return wrong
    await delay(pause)
  }
}

/** @param milliseconds of a duration @returns such as `1.2 s` */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`
}
