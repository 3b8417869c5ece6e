import { fileURLToPath } from 'node:url'
import { Child } from '../../../helpers/child.ts'
import type { DyingBatch } from '../compaction/die-at-batch.ts'

/** Of a store, from its opening to kill -9. */
export interface Life {
  readonly location: string
  /** Of the histories that go on in it. */
  readonly seeds: readonly number[]
  /** How many lives were before. */
  readonly number: number
  /** Most records of a packed chunk. */
  readonly records: number
  readonly dying: DyingBatch
}

/** Actions of a history in this life. */
export interface Lived {
  readonly begun: number
  readonly done: number
}

export interface Death {
  /** Whether it was killed; otherwise all histories went on to their end. */
  readonly isKilled: boolean
  /** By the seed of the history. */
  readonly lived: ReadonlyMap<number, Lived>
  /** What was wrong while it lived. */
  readonly errors: string
}

const program = fileURLToPath(new URL('killed-histories.ts', import.meta.url))
const tsx = import.meta.resolve('tsx')

export async function live(life: Life): Promise<Death> {
  const child = new Child(process.execPath, ['--import', tsx, program, JSON.stringify(life)])
  const { signal, stdout, stderr } = await child.exited
  const lived = new Map<number, { begun: number; done: number }>()
  for (const [, seed, , count] of stdout.matchAll(/^(\d+) (begins|has done) (\d+)$/gm)) {
    lived.set(Number(seed), { begun: 0, done: Number(count) })
  }
  for (const [, seed] of stdout.matchAll(/^(\d+) begins \d+$/gm)) {
    const of = lived.get(Number(seed))
    if (of) of.begun++
  }
  return { isKilled: signal === 'SIGKILL', lived, errors: stderr }
}
