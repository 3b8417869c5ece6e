import { open, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { runCli, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { eventually } from '../helpers/waiting.ts'

/** Milliseconds; the server looks at the disk every two seconds. */
const roomDeadline = 30_000
const pieceBytes = 256 * 1024
/** Bytes: less than a server needs to take anything but removals. */
const nearlyFull = 1024 * 1024

/**
 * How the other program fills the disk: at once; so slowly that the server sees the disk nearly full before, for which
 * `minFreeSpace` has to be 8 MiB or more; or at once, and then with all that becomes free until the end. In that case the server is
 * not started anew: it could not.
 */
export const fillings = ['at once', 'slowly', 'without end'] as const
type Filling = (typeof fillings)[number]

interface FullDiskSetup {
  /** A directory on a small file system. */
  readonly directory: string
  /** Bytes that must be free for writes, as `minFreeSpace`. */
  readonly minFreeSpace: number
  /** Writes of one device that are refused while the disk is full. */
  readonly refused: number
  /** Valid writes that are tried then. */
  readonly writes: number
  readonly filling: Filling
}

/**
 * Has another program fill the disk to its last byte under a server, and lets one device send what is refused: it reads, deletes and
 * starts, and takes writes when there is room again.
 *
 * @returns what is wrong, in words
 */
export async function fillDisk(setup: FullDiskSetup): Promise<readonly string[]> {
  const dataDir = join(setup.directory, 'data')
  const environment = { THINGWIRE_MIN_FREE_SPACE: String(setup.minFreeSpace) }
  const wrong: string[] = []
  const valid: number[] = []
  const expect = async (what: string, status: Promise<number> | number, expected: number) => {
    const got = await status
    if (got !== expected) wrong.push(`${what}: ${got} where ${expected} is due`)
  }
  let server = await startServer({ dataDir, environment })
  try {
    const [device, other] = [await createThing(server), await createThing(server)]
    let acked = await writeUntilFull(server, other, 3_000)
    await writeUntilFull(server, device, 1_000)
    await untilReserved(dataDir)
    const filler = join(setup.directory, 'filler')
    if (setup.filling === 'slowly') {
      // First it stops to write on its own, so that no write fails in the little room that is left then.
      await fill(filler, (3 * setup.minFreeSpace) / 4)
      acked = await writeUntilRefused(server, other, acked)
      await fill(filler, nearlyFull)
      await untilNothingIsAdded(server)
    }
    await fill(filler)
    for (let round = 0; round < Math.max(setup.refused, setup.writes); round++) {
      if (round < setup.refused)
        await expect('a refused write', statusOf(write(server, device, invalid(round))), 400)
      if (round < setup.writes) {
        const status = await statusOf(write(server, other, batch(acked, 1)))
        valid.push(status)
        if (status === 201) acked++
      }
      const { thingToken } = other
      await expect('a read', statusOf(get(server, `/v2/things/${thingToken}/resources/n?limit=100`)), 200)
      await expect('a list', statusOf(get(server, `/v2/things/${device.thingToken}/resources`)), 200)
      await expect('readiness', statusOf(get(server, '/readyz')), 200)
      if (setup.filling === 'without end') await fill(filler)
    }
    // A short write may still find room in the last page of a file.
    const isRefused = valid.includes(503) && valid.every(status => status === 201 || status === 503)
    if (!isRefused) wrong.push(`valid writes: ${valid.join(', ')}`)
    const list = await get(server, `/v2/things/${device.thingToken}/errors?limit=100`)
    const listed = ((await list.json()) as readonly unknown[]).length
    await expect('refused writes that are listed', listed, Math.min(100, setup.refused))
    const deleted = await remove(server, device)
    if (setup.filling !== 'without end') {
      await expect('DELETE', deleted.status, 200)
      await expect('records that are deleted', deleted.count, 1_000)
      await expect('records that are left', deleted.left, 0)
      await server.kill()
      server = await startServer({ dataDir, environment })
      const read = statusOf(get(server, `/v2/things/${other.thingToken}/resources/n`))
      await expect('a read after kill -9 and a start', read, 200)
    }
    await rm(filler)
    await expect('a write when there is room', firstTaken(server, other, acked), 201)
    const found = new Set((await readAll(server, other, 'n')).map(({ value }) => (value as { n: number }).n))
    const missing = Array.from({ length: acked }, (_, n) => n).filter(n => !found.has(n)).length
    await expect('acknowledged and missing', missing, 0)
    await server.stop()
    const check = await runCli({ args: ['check', '--data-dir', dataDir] })
    await expect('the status of check', check.code ?? -1, 0)
    return wrong
  } finally {
    await server.kill()
  }
}

function invalid(round: number): object {
  return { values: [{ key: `not a key ${round}`, value: 'x'.repeat(300) }] }
}

/** Records of 1 KiB whose values are numbered. */
function batch(first: number, count: number): object {
  const values = Array.from({ length: count }, (_, place) => ({
    key: 'n',
    value: { n: first + place, filled: 'x'.repeat(1_000) },
  }))
  return { values }
}

/** @returns how many were acknowledged: as many as are asked for, if there is room */
async function writeUntilFull(server: ServerProcess, thing: Thing, records: number): Promise<number> {
  for (let first = 0; first < records; first += 250) {
    const { status } = await write(server, thing, batch(first, 250))
    if (status !== 201) throw new Error(`the disk is too small for this test: ${status}`)
  }
  return records
}

/** A server makes its reserve soon after its first start on a directory. */
async function untilReserved(dataDir: string): Promise<void> {
  const { blocks, bsize } = await statfs(dataDir)
  const bytes = Math.min(32 * 1024 * 1024, Math.floor((blocks * bsize) / 8))
  const reserve = join(dataDir, 'store', 'RESERVE')
  const isThere = async () => (await stat(reserve).catch(() => undefined))?.size === bytes
  if (!(await eventually(isThere))) throw new Error('the server has made no reserve')
}

/** @returns how many are acknowledged by then, with those before */
async function writeUntilRefused(server: ServerProcess, thing: Thing, acked: number): Promise<number> {
  for (let next = acked; ; next++) {
    const status = await statusOf(write(server, thing, batch(next, 1)))
    if (status === 503) return next
    if (status !== 201) throw new Error(`a valid write is answered with ${status}`)
    await delay(50)
  }
}

async function untilNothingIsAdded({ url, adminKey }: ServerProcess): Promise<void> {
  const headers = { authorization: `Bearer ${adminKey}` }
  for (;;) {
    const status = await statusOf(fetch(`${url}/v2/admin/things`, { method: 'POST', headers, body: '{}' }))
    if (status === 503) return
    if (status !== 201) throw new Error(`a new thing is answered with ${status}`)
    await delay(50)
  }
}

/** Takes all that is left of the disk. @param left bytes; default: none */
async function fill(file: string, left = 0): Promise<void> {
  const handle = await open(file, 'a')
  try {
    for (let bytes = pieceBytes; bytes >= 1; ) {
      const { bavail, bsize } = await statfs(file)
      if (left > 0 && bavail * bsize < left + bytes) return
      try {
        await handle.appendFile(Buffer.alloc(bytes, 'f'))
        await handle.sync()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        bytes = Math.floor(bytes / 16)
      }
    }
  } finally {
    await handle.close().catch(() => {})
  }
}

async function statusOf(response: Promise<Response>): Promise<number> {
  const answered = await response
  await answered.arrayBuffer()
  return answered.status
}

function get({ url, adminKey }: ServerProcess, path: string): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { authorization: `Bearer ${adminKey}` } })
}

async function remove({ url, adminKey }: ServerProcess, { thingId }: Thing) {
  const headers = { authorization: `Bearer ${adminKey}` }
  const path = `${url}/v2/things/${thingId}/resources/n`
  const response = await fetch(path, { method: 'DELETE', headers })
  const { deleted = 0 } = (await response.json()) as { readonly deleted?: number }
  const left = (await (await fetch(path, { headers })).json()) as readonly unknown[]
  return { status: response.status, count: deleted, left: left.length }
}

async function firstTaken(server: ServerProcess, thing: Thing, first: number): Promise<number> {
  const deadline = performance.now() + roomDeadline
  for (;;) {
    const status = await statusOf(write(server, thing, batch(first, 1)))
    if (status !== 503 || performance.now() > deadline) return status
    await delay(100)
  }
}
