import { type ChainedBatchWriteOptions, ClassicLevel } from 'classic-level'

type Batch = ReturnType<ClassicLevel['batch']>

/** What every put of a batch goes through, be it of the public method or not. */
interface Puts {
  _put(key: string, value: string, options: object): void
}

/** One operation of a batch; `value` is undefined for a removal. */
export interface Operation {
  /** A character for each byte. */
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
    const internals = batch as unknown as Puts
    const put = internals._put.bind(batch)
    internals._put = (key, value, options) => {
      const operation = { key: textOf(key), value: value.toString() }
      if (isDropped(operation)) return
      operations.push(operation)
      put(key, value, options)
    }
    const del = batch.del.bind(batch)
    batch.del = (key: string, options = {}) => {
      const operation = { key: textOf(key), value: undefined }
      if (isDropped(operation)) return batch
      operations.push(operation)
      return del(key, options)
    }
    const writeBatch = batch.write.bind(batch)
    batch.write = (options: ChainedBatchWriteOptions = {}) => write(operations, () => writeBatch(options))
    return batch
  } as ClassicLevel['batch']
}

/** Holds up for ever, from now on, whoever reads a key that begins so. @param onHeld called for each */
export function holdReads(prefix: string, onHeld: () => void): void {
  const get = ClassicLevel.prototype.get as (...parameters: unknown[]) => Promise<string | undefined>
  ClassicLevel.prototype.get = function (this: ClassicLevel, ...parameters: unknown[]) {
    const [key] = parameters as [string]
    if (!textOf(key).startsWith(prefix)) return get.apply(this, parameters)
    onHeld()
    return new Promise(() => {})
  } as ClassicLevel['get']
}

/** The server's database has keys of bytes. */
function textOf(key: string | Uint8Array): string {
  return Buffer.from(key as string).toString('latin1')
}
