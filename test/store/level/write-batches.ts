import { ClassicLevel } from 'classic-level'
import { vi } from 'vitest'
import { type Through, writtenThrough } from './compaction/die-at-batch.ts'

/** Has every batch of every database written by `through`, which is given what really writes it, until mocks are restored. */
export function writeBatches(through: Through): void {
  const { batch } = ClassicLevel.prototype
  vi.spyOn(ClassicLevel.prototype, 'batch').mockImplementation(writtenThrough(batch, through))
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
