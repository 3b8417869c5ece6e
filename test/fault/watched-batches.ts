import { type ChainedBatchWriteOptions, ClassicLevel } from 'classic-level'

type Batch = ReturnType<ClassicLevel['batch']>

/** One operation of a batch; `value` is undefined for a removal. */
export interface Operation {
  readonly key: string
  readonly value: string | undefined
}

export interface BatchWatcher {
  /** Whether an operation is to be left out: a defect. */
  readonly isDropped?: (operation: Operation) => boolean
  /** Does the writing, or does not. */
  readonly write: (operations: readonly Operation[], write: () => Promise<void>) => Promise<void>
}

/** Takes hold of every batch that LevelDB is given from now on. */
export function watchBatches({ isDropped = () => false, write }: BatchWatcher): void {
  const create = ClassicLevel.prototype.batch as () => Batch
  ClassicLevel.prototype.batch = function (this: ClassicLevel) {
    const batch = create.call(this)
    const operations: Operation[] = []
    const put = batch.put.bind(batch)
    batch.put = (key: string, value: string, options = {}) => {
      const operation = { key: key.toString(), value: value.toString() }
      if (isDropped(operation)) return batch
      operations.push(operation)
      return put(key, value, options)
    }
    const del = batch.del.bind(batch)
    batch.del = (key: string, options = {}) => {
      const operation = { key: key.toString(), value: undefined }
      if (isDropped(operation)) return batch
      operations.push(operation)
      return del(key, options)
    }
    const writeBatch = batch.write.bind(batch)
    batch.write = (options: ChainedBatchWriteOptions = {}) => write(operations, () => writeBatch(options))
    return batch
  } as ClassicLevel['batch']
}
