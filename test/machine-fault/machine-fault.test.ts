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
    ['is below minFreeSpace before', 8 * MiB, 'at once', 120],
    ['is found to be full by a write that fails', 0, 'at once', 60],
    ['is seen to be nearly full before the rest is taken', 8 * MiB, 'slowly', 120],
    ['is filled with every byte that becomes free', 0, 'without end', 30],
  ] as const)(
    'reads, deletes and starts, and takes writes when there is room, if it %s',
    async (_, minFreeSpace, filling, refused) => {
      const { path: directory } = await smallFileSystem('tmpfs', 192 * MiB, onTestFinished)
      expect(await fillDisk({ directory, minFreeSpace, refused, writes: 10, filling })).toEqual([])
    },
  )
})

describe('a server whose data directory is taken away', () => {
  it.each(Object.keys(ways) as WayName[])(
    'acknowledges nothing 5 s later, ends with status 1, and is not started on an empty one: %s',
    async name => {
      const directory = await temporaryDirectory()
      const way: Way = ways[name]
      const mounted = way.needsMount ? await smallFileSystem('ext4', 256 * MiB, onTestFinished) : undefined
      const dataDir = mounted?.path ?? join(directory, 'the data')
      const place = { dataDir, beside: join(directory, 'beside'), mounted }
      expect(await takeAway(name, place, 50)).toEqual([])
    },
  )
})

describe('thingwire check', () => {
  it('takes nothing for damage that a server left which was killed while it wrote a table', async () => {
    const dataDir = join(await temporaryDirectory(), 'data')
    for (let round = 0; round < 2; round++)
      expect((await killWhileWritingTable(dataDir)).violations).toEqual([])
  })
})

describe('a server with few descriptors', () => {
  it('turns connections away before its store cannot open a file, and logs it once', async () => {
    expect(await connectManyTo(join(await temporaryDirectory(), 'data'), 256, 500)).toEqual([])
  })
})
