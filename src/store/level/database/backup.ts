import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { ClassicLevel } from 'classic-level'
import { makeDirectory } from '../../../core/files/make-directory.ts'
import { everyKey, identityKey } from '../keys.ts'
import type { Database } from './database.ts'
import { formatProblem, formatVersion, newIdentity } from './identity.ts'
import { scan } from './scan.ts'

/**
 * A backup is a line of text, then a frame for each entry (length of its key and length of its value, 4 bytes each, big-endian;
 * then key and value), then a closing frame: the length 0xffffffff, and the SHA-256 of all earlier frames. The line names the
 * format of the store. A version refuses a backup with a line that it does not know. See the diagram in docs/reference/storage.md.
 */
const firstLine = `thingwire backup ${formatVersion}\n`
/** First lines of the backups of earlier formats; all before 4 have the first one. */
const olderFirstLines = ['thingwire backup 1\n', 'thingwire backup 4\n']
const closing = 0xffffffff
const digestLength = 32
/** Maximum length of a key or value in a backup, in bytes. A greater length means damage, and no memory is allocated for it. */
const maximumLength = 64 * 1024 * 1024
const writtenAtOnce = 1_000

/** Streams everything that was committed before the call, while writes go on. */
export async function* backUp(database: Database): AsyncIterable<Uint8Array> {
  const snapshot = database.level.snapshot()
  const digest = createHash('sha256')
  try {
    yield Buffer.from(firstLine)
    for await (const entries of scan(database, everyKey, { snapshot })) {
      const frames = Buffer.concat(
        entries.flatMap(([key, value]) => [lengths(key.length, value.length), key, value]),
      )
      digest.update(frames)
      yield frames
    }
    const end = Buffer.alloc(4)
    end.writeUInt32BE(closing)
    yield Buffer.concat([end, digest.digest()])
  } finally {
    await snapshot.close()
  }
}

/**
 * Creates a store from a backup. The store gets a new identity, since the original store may still be in use.
 *
 * @param location a directory that does not exist yet or is empty
 * @param onProgress called from time to time with the number of keys written so far
 * @throws Error with a message for the operator if the directory is not empty; or, after removing the directory, if the source is
 * not a backup, is damaged, cut off or too long, or contains a store that this version cannot use
 */
export async function restoreLevelStore(
  source: AsyncIterable<Uint8Array>,
  location: string,
  onProgress: (keys: number) => void = () => {},
): Promise<{ keys: number }> {
  await makeDirectory(location)
  if ((await readdir(location)).length > 0)
    throw new Error(`cannot restore into ${location}: it is not empty`)
  const level = new ClassicLevel<Buffer, Buffer>(location, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  try {
    await level.open()
    let keys = 0
    let batch = level.batch()
    for await (const [key, value] of readFrames(source)) {
      batch.put(key, value)
      if (++keys % writtenAtOnce !== 0) continue
      await batch.write()
      batch = level.batch()
      onProgress(keys)
    }
    await batch.write()
    const problem = await formatProblem(level)
    if (problem !== undefined)
      throw new Error(`cannot restore: the store in the backup cannot be used: ${problem}`)
    await level.put(identityKey, newIdentity(), { sync: true })
    await level.close()
    return { keys }
  } catch (error) {
    await level.close()
    await rm(location, { recursive: true, force: true })
    throw error
  }
}

async function* readFrames(source: AsyncIterable<Uint8Array>): AsyncIterable<[Buffer, Buffer]> {
  const bytes = new ByteReader(source)
  const line = (await bytes.take(firstLine.length)).toString('latin1')
  if (line.startsWith('{"thingId"'))
    throw new Error('cannot restore: the file is an export; use thingwire import to read it')
  if (line !== firstLine && !olderFirstLines.includes(line)) {
    throw new Error('cannot restore: the file is not a Thingwire backup, or it is from a newer version')
  }
  const digest = createHash('sha256')
  for (;;) {
    const keyLength = (await bytes.take(4)).readUInt32BE()
    if (keyLength === closing) break
    const valueLength = (await bytes.take(4)).readUInt32BE()
    if (keyLength > maximumLength || valueLength > maximumLength)
      throw new Error('cannot restore: the backup is damaged')
    const key = await bytes.take(keyLength)
    const value = await bytes.take(valueLength)
    digest.update(lengths(keyLength, valueLength)).update(key).update(value)
    yield [key, value]
  }
  if (!digest.digest().equals(await bytes.take(digestLength)))
    throw new Error('cannot restore: the backup is damaged')
  if (!(await bytes.isAtEnd())) throw new Error('cannot restore: there are bytes after the end of the backup')
}

function lengths(key: number, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeUInt32BE(key)
  bytes.writeUInt32BE(value, 4)
  return bytes
}

class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #buffered = Buffer.alloc(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#pieces = source[Symbol.asyncIterator]()
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#buffered.length === 0) {
      const { value, done } = await this.#pieces.next()
      if (done) return true
      this.#buffered = Buffer.from(value)
    }
    return false
  }

  async take(length: number): Promise<Buffer> {
    const pieces = [this.#buffered]
    let available = this.#buffered.length
    while (available < length) {
      const { value, done } = await this.#pieces.next()
      if (done) throw new Error('cannot restore: the backup is cut off')
      pieces.push(Buffer.from(value))
      available += value.length
    }
    const all = pieces.length === 1 ? this.#buffered : Buffer.concat(pieces)
    this.#buffered = all.subarray(length)
    return Buffer.from(all.subarray(0, length))
  }
}
