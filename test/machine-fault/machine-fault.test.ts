import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { connectManyTo } from './few-descriptors.ts'
import { fillDisk } from './full-disk.ts'
import { smallFileSystem } from './small-file-system.ts'
import { killWhileWritingTable } from './table-kills.ts'
import { takeAway, type Way, type WayName, ways } from './taken-away.ts'

/** The short form of `npm run fault:machine`. */

const MiB = 1024 * 1024

describe('a server whose disk another program fills', () => {
  it.each([
    ['is below minFreeSpace before', 8 * MiB, 'at once'],
    ['is found to be full by a write that fails', 0, 'at once'],
    ['is seen to be nearly full before the rest is taken', 8 * MiB, 'slowly'],
  ] as const)(
    'reads, deletes and starts, and takes writes when there is room, if it %s',
    async (_, minFreeSpace, filling) => {
      const disk = await smallFileSystem('tmpfs', 192 * MiB, onTestFinished)
      const refused = 120
      const setup = { directory: disk.path, minFreeSpace, refused, writes: 10, filling }
      const found = await fillDisk(setup)
      expect(found.refusals).toEqual({ 400: refused })
      expectOnly(found.valid, ['201', '503'])
      expect(found.reads).toEqual({ 200: 3 * refused })
      expect(found.listed).toBe(100)
      expect(found.deleted).toEqual({ status: 200, count: 1_000, left: 0 })
      expect(found).toMatchObject({ restarted: 200, withRoom: 201, missing: 0, check: 0 })
    },
  )

  it('reads on while that program takes every byte that becomes free', async () => {
    const disk = await smallFileSystem('tmpfs', 192 * MiB, onTestFinished)
    const setup = {
      directory: disk.path,
      minFreeSpace: 0,
      refused: 30,
      writes: 10,
      filling: 'without end' as const,
    }
    const found = await fillDisk(setup)
    expect(found.refusals).toEqual({ 400: 30 })
    expectOnly(found.valid, ['201', '503'])
    expect(found.reads).toEqual({ 200: 90 })
    expect(found).toMatchObject({ withRoom: 201, missing: 0, check: 0 })
  })
})

describe('a server whose data directory is taken away', () => {
  it.each(Object.keys(ways) as WayName[])(
    'acknowledges nothing 5 s later, ends with status 1, and is not started on an empty one: %s',
    async name => {
      const directory = await temporaryDirectory()
      const way: Way = ways[name]
      const mounted = way.needsMount ? await smallFileSystem('ext4', 256 * MiB, onTestFinished) : undefined
      const dataDir = mounted?.path ?? join(directory, 'data')
      const place = { dataDir, beside: join(directory, 'beside'), mounted }
      const found = await takeAway(name, place, 50)
      expect(found.lastAck).toBeLessThan(5_000)
      expect(found.code).toBe(1)
      expect(found.fatal).toMatch(/the store in \S+ is lost: .*Bring the data directory back/)
      expect(found.startedAway.code).toBe(1)
      expect(found.startedAway.stderr).toMatch(/^thingwire: [^\n]*went away under a running server[^\n]*\n$/)
      expect(found.left).toContain('store-lost')
      expect(found.left).not.toContain('store')
      expect(found.missing).toBe(way.bringBack ? 0 : undefined)
    },
  )
})

describe('thingwire check', () => {
  it('takes nothing for damage that a server left which was killed while it wrote a table', async () => {
    const dataDir = join(await temporaryDirectory(), 'data')
    for (let round = 0; round < 2; round++) {
      const { check, flipped } = await killWhileWritingTable(dataDir)
      expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('No faults.') })
      expect(flipped).toBe(1)
    }
  })
})

describe('a server with few descriptors', () => {
  it('turns connections away before its store cannot open a file, and logs it once', async () => {
    const dataDir = join(await temporaryDirectory(), 'data')
    const { open, statuses, logs, lines, failures } = await connectManyTo(dataDir, 256, 500)
    expect(open).toBeLessThan(200)
    expect(open).toBeGreaterThan(100)
    expect(new Set(statuses)).toEqual(new Set([201]))
    expect(logs).toBeGreaterThan(0)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/this process may have 141 .*ulimit -n/)
    expect(failures).toEqual([])
  })
})

/** A short write may still find room in the last page of a file. */
function expectOnly(counts: Readonly<Record<string, number>>, expected: readonly string[]): void {
  expect(Object.keys(counts).filter(name => !expected.includes(name))).toEqual([])
  expect(counts[503]).toBeGreaterThan(0)
}
