import { join } from 'node:path'
import { withDirectory } from '../helpers/with-server.ts'
import { Report } from '../rig/program.ts'
import { connectManyTo } from './few-descriptors.ts'
import { fillDisk, fillings } from './full-disk.ts'
import { type SmallFileSystem, smallFileSystem } from './small-file-system.ts'
import { killWhileWritingTable } from './table-kills.ts'
import { takeAway, type Way, type WayName, ways } from './taken-away.ts'

/**
 * `npm run fault:machine`: a disk that is full, one that goes away, kills while a table is written, and too few descriptors, in
 * full. Has to be root and to be allowed to mount. Prints what it found; ends with status 1 if a promise broke.
 */
const target = {
  rounds: 3,
  refused: 300,
  writes: 30,
  acks: 500,
  kills: 20,
  descriptors: 256,
  connections: 500,
}
const MiB = 1024 * 1024

const report = new Report()
const mounted: SmallFileSystem[] = []

async function mount(kind: 'tmpfs' | 'ext4', bytes: number): Promise<SmallFileSystem> {
  const disk = await smallFileSystem(kind, bytes, () => {})
  mounted.push(disk)
  return disk
}

async function fillDisks(): Promise<void> {
  for (const kind of ['tmpfs', 'ext4'] as const) {
    for (const minFreeSpace of [0, 8 * MiB]) {
      for (const filling of fillings) {
        if (filling === 'slowly' && minFreeSpace === 0) continue
        const disk = await mount(kind, 256 * MiB)
        const { refused, writes } = target
        const found = await fillDisk({ directory: disk.path, minFreeSpace, refused, writes, filling })
        report.list(`full ${kind}, minFreeSpace ${minFreeSpace}, filled ${filling}`, found)
        await disk.remove()
      }
    }
  }
}

async function takeDirectoriesAway(directory: string): Promise<void> {
  for (const name of Object.keys(ways) as WayName[]) {
    const way: Way = ways[name]
    for (let round = 1; round <= target.rounds; round++) {
      const disk = way.needsMount ? await mount('ext4', 256 * MiB) : undefined
      const beside = join(directory, `${name} ${round} beside`)
      const dataDir = disk?.path ?? join(directory, `${name} ${round}`)
      const found = await takeAway(name, { dataDir, beside, mounted: disk }, target.acks)
      report.list(`${name}, round ${round}`, found)
      await disk?.remove()
    }
  }
}

async function killTables(dataDir: string): Promise<void> {
  let named = 0
  for (let kill = 1; kill <= target.kills; kill++) {
    const { violations, remnants } = await killWhileWritingTable(dataDir)
    named += remnants
    report.list(`kill ${kill} while a table is written`, violations)
  }
  report.line(named > 0, `remnants that were named: ${named}`)
}

try {
  await fillDisks()
  await withDirectory(async directory => {
    await takeDirectoriesAway(directory)
    await killTables(join(directory, 'killed'))
    const { descriptors, connections } = target
    const found = await connectManyTo(join(directory, 'few-descriptors'), descriptors, connections)
    report.list(`${connections} connections to ${descriptors} descriptors`, found)
  })
} finally {
  for (const disk of mounted) await disk.remove()
}
process.exitCode = report.broken === 0 ? 0 : 1
