import { writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers'
import { type ChainedBatchWriteOptions, ClassicLevel } from 'classic-level'

/** What points take hold of: the end of the process, the batches of the database, what sockets send and read. */

/** Kills this process as `kill -9` does, once `proof` is written to the file that FAULT_PROOF names. */
export function die(proof: string): void {
  writeFileSync(process.env.FAULT_PROOF ?? '', proof)
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a while, in which more would be done than the proof says.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** Kills after some milliseconds, unless `task` is done before. */
export function dieWithin(milliseconds: number, task: Promise<unknown>, what: string): void {
  const started = performance.now()
  let isDone = false
  const done = () => {
    isDone = true
  }
  task.then(done, done)
  // Not a timer: those know whole milliseconds only, and a commit may take less than one.
  const look = () => {
    if (isDone) return
    const passed = performance.now() - started
    if (passed >= milliseconds) die(`${passed.toFixed(3)} ms after the beginning ${what}, before its end`)
    else setImmediate(look)
  }
  look()
}

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

/** How many packets of a kind are in a piece of what a socket sends or reads. */
type CountIn = (piece: Uint8Array) => number

/** Kinds of packet by the first two bytes of it. */
const packetStart = {
  PUBACK: Buffer.from([0x40, 2]),
  PUBREC: Buffer.from([0x50, 2]),
  PUBREL: Buffer.from([0x62, 2]),
  PUBCOMP: Buffer.from([0x70, 2]),
} as const

/** Calls `onSent` with the number of packets in each piece, before it is handed to a socket or behind that. */
export function watchSent(
  countIn: CountIn,
  when: 'before' | 'behind',
  onSent: (count: number) => void,
): void {
  const write = Socket.prototype.write as (this: Socket, ...parameters: unknown[]) => boolean
  Socket.prototype.write = function (this: Socket, ...parameters: unknown[]) {
    const [piece] = parameters
    const count = piece instanceof Uint8Array ? countIn(piece) : 0
    if (count > 0 && when === 'before') onSent(count)
    const isTaken = write.apply(this, parameters)
    if (count > 0 && when === 'behind') onSent(count)
    return isTaken
  } as Socket['write']
}

/** Calls `onRead` with the number of packets in each piece that was read, before anyone in the process sees it. */
export function watchRead(countIn: CountIn, onRead: (count: number) => void): void {
  const push = Socket.prototype.push
  Socket.prototype.push = function (this: Socket, piece: unknown, encoding?: BufferEncoding) {
    const count = piece instanceof Uint8Array ? countIn(piece) : 0
    if (count > 0) onRead(count)
    return push.call(this, piece, encoding)
  }
}

/** These two bytes occur in no PUBLISH of the load: its text has no control characters, its packet ids are small. */
export const releasesIn: CountIn = piece => (Buffer.from(piece).includes(packetStart.PUBREL) ? 1 : 0)

/** In a piece that begins with a PUBLISH at QoS 1 on a topic of a thing. */
export const publishesIn: CountIn = piece => {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
  const isPublish = bytes[0] === 0x32 || bytes[0] === 0x3a
  const topic = bytes.subarray(0, 20).indexOf('things/')
  if (!isPublish || topic < 4) return 0
  return bytes.toString('latin1').split('things/').length - 1
}

/** In a piece that consists of acks, each of four bytes. */
export function acksIn(kind: 'PUBACK' | 'PUBREC' | 'PUBCOMP'): CountIn {
  return piece => {
    if (piece.length % 4 !== 0) return 0
    let count = 0
    for (let offset = 0; offset < piece.length; offset += 4) {
      if (piece[offset + 1] !== 2) return 0
      if (piece[offset] === packetStart[kind][0]) count++
    }
    return count
  }
}
