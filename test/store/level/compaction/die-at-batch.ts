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

type Begin = (this: ClassicLevel) => ReturnType<ClassicLevel['batch']>
export type Through = (write: () => Promise<void>, options: ChainedBatchWriteOptions) => Promise<void>

/** `batch` of a database, the batch of which is written by `through`. */
export function writtenThrough(begin: unknown, through: Through): Begin & ClassicLevel['batch'] {
  const written: Begin = function () {
    const batch = (begin as Begin).call(this)
    const write = batch.write.bind(batch)
    batch.write = (options: ChainedBatchWriteOptions = {}) => through(() => write(options), options)
    return batch
  }
  return written as Begin & ClassicLevel['batch']
}

/** Has this process die by kill -9 at a batch that LevelDB is given from now on. */
export function dieAtBatch({ death, number, isOfCompactor }: DyingBatch): void {
  const { prototype } = ClassicLevel
  const die = () => void process.kill(process.pid, 'SIGKILL')
  let left = number
  prototype.batch = writtenThrough(prototype.batch, async (write, { sync }) => {
    // Those of the compactor alone are not waited for on the disk.
    const isCounted = !isOfCompactor || sync === false
    if (!isCounted || --left > 0) return await write()
    if (death === 'before') die()
    const written = write()
    if (death === 'while') die()
    await written
    die()
  })
}
