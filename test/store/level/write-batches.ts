import { type ChainedBatchWriteOptions, ClassicLevel } from 'classic-level'
import { vi } from 'vitest'

type Batch = ReturnType<ClassicLevel['batch']>
type Write = () => Promise<void>

/** Has every batch of every database written by `through`, which is given what really writes it, until mocks are restored. */
export function writeBatches(
  through: (write: Write, options: ChainedBatchWriteOptions) => Promise<void>,
): void {
  const prototype = ClassicLevel.prototype as unknown as { batch: () => Batch }
  const begin = prototype.batch
  vi.spyOn(prototype, 'batch').mockImplementation(function (this: ClassicLevel) {
    const batch = begin.call(this)
    const write = batch.write.bind(batch)
    batch.write = (options: ChainedBatchWriteOptions = {}) => through(() => write(options), options)
    return batch
  })
}

/** Has the next batch that is waited for on the disk reported as failed although it is there. */
export function failNextBatch(): void {
  let fails = true
  writeBatches(async (write, { sync }) => {
    await write()
    if (!fails || !sync) return
    fails = false
    throw Object.assign(new Error('fsync: input/output error'), { code: 'LEVEL_IO_ERROR' })
  })
}
