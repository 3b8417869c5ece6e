import { type ChainedBatchWriteOptions, ClassicLevel } from 'classic-level'

/** When this process dies: before LevelDB is given a batch, while it writes it, or behind that. */
export const deaths = ['before', 'while', 'behind'] as const
export type Death = (typeof deaths)[number]

export interface DyingBatch {
  readonly death: Death
  /** Which batch, counted from 1 on. */
  readonly number: number
  /** Whether only batches of the compactor count. */
  readonly isOfCompactor: boolean
}

type Batch = ReturnType<ClassicLevel['batch']>

/** Has this process die by kill -9 at a batch that LevelDB is given from now on. */
export function dieAtBatch({ death, number, isOfCompactor }: DyingBatch): void {
  let left = number
  const prototype = ClassicLevel.prototype as unknown as { batch: () => Batch }
  const begin = prototype.batch
  prototype.batch = function batch(this: ClassicLevel) {
    const made = begin.call(this)
    const through = made.write.bind(made)
    made.write = async (options: ChainedBatchWriteOptions = {}) => {
      // Those of the compactor alone are not waited for on the disk.
      const isCounted = !isOfCompactor || options.sync === false
      if (!isCounted || --left > 0) return await through(options)
      if (death === 'before') die()
      const written = through(options)
      if (death === 'while') die()
      await written
      die()
    }
    return made
  }
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
