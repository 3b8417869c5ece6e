import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { ClassicLevel } from 'classic-level'
import type { Client } from '../../../src/store/redis/script.ts'

type Frame = readonly [key: Buffer, value: Buffer]

const closing = 0xffffffff

/** A line of text with its end, and what stands behind it. */
interface Backup {
  readonly line: Buffer
  readonly frames: readonly Frame[]
}

/** The backup that a build of another time has made, its MQTT sessions last connected now: they would be over. */
export async function readBackup(name: string): Promise<Backup> {
  const bytes = await unzipped(`${name}.backup.gz`)
  let at = bytes.indexOf('\n') + 1
  const line = bytes.subarray(0, at)
  const frames: Frame[] = []
  const next = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  for (;;) {
    const length = next(4).readUInt32BE()
    if (length === closing) return { line, frames }
    const valueLength = next(4).readUInt32BE()
    const key = next(length)
    frames.push([key, asOfNow(key, next(valueLength))])
  }
}

export function encodeBackup({ line, frames }: Backup): Buffer {
  const bytes = Buffer.concat(
    frames.flatMap(([key, value]) => [uint32(key.length), uint32(value.length), key, value]),
  )
  return Buffer.concat([line, bytes, uint32(closing), createHash('sha256').update(bytes).digest()])
}

/** Makes the store that the backup is of: it has all the keys of one. */
export async function putStore({ frames }: Backup, location: string): Promise<void> {
  const level = new ClassicLevel<Buffer, Buffer>(location, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  await level.batch(frames.map(([key, value]) => ({ type: 'put', key, value })))
  await level.close()
}

/** Runs the commands that make a store in Redis, as a build of another time has left it. */
export async function putRedisStore(name: string, client: Client): Promise<void> {
  const lines = (await unzipped(`${name}.redis.gz`)).toString().trim().split('\n')
  for (const line of lines) {
    const words = (JSON.parse(line) as (string | { base64: string })[]).map(word =>
      typeof word === 'string' ? Buffer.from(word) : Buffer.from(word.base64, 'base64'),
    )
    const [command = '', ...args] = words
    await client.callBuffer(
      command.toString(),
      ...args.map((word, index) => (index === 0 ? word : asOfNow(args[index - 1] ?? word, word))),
    )
  }
}

/** @param key that ends with the name of a document */
function asOfNow(key: Buffer, value: Buffer): Buffer {
  if (!/^o?mqtt-sessions\//.test(key.toString()) || value[0] !== '{'.charCodeAt(0)) return value
  return Buffer.from(value.toString().replace(/"lastConnected":\d+/, `"lastConnected":${Date.now()}`))
}

async function unzipped(file: string): Promise<Buffer> {
  return gunzipSync(await readFile(new URL(file, import.meta.url)))
}

function uint32(number: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(number)
  return bytes
}
