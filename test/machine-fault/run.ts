import { join } from 'node:path'
import { Report } from '../rig/program.ts'
import { withDirectory } from '../helpers/with-server.ts'
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
        const what = `full ${kind}, minFreeSpace ${minFreeSpace}, filled ${filling}`
        report.answers(`${what}: refused writes`, found.refusals, ['400'])
        report.answers(`${what}: valid writes`, found.valid, ['201', '503'])
        report.answers(`${what}: reads, lists and readiness`, found.reads, ['200'])
        report.line(found.listed === 100, `${what}: refused writes that are listed: ${found.listed}`)
        if (filling !== 'without end') {
          const { status, count, left } = found.deleted
          report.line(
            status === 200 && left === 0,
            `${what}: DELETE ${status}, ${count} records, ${left} left`,
          )
          report.line(found.restarted === 200, `${what}: read after kill -9 and a start: ${found.restarted}`)
        }
        report.line(found.withRoom === 201, `${what}: a write when there is room again: ${found.withRoom}`)
        report.line(found.missing === 0, `${what}: acknowledged and missing: ${found.missing}`)
        report.line(found.check === 0, `${what}: check ends with ${found.check}`)
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
      const place = join(directory, `${name} ${round}`)
      const found = await takeAway(
        name,
        { dataDir: disk?.path ?? place, beside: `${place} beside`, mounted: disk },
        target.acks,
      )
      const what = `${name}, round ${round}`
      const { code, lastAck, startedAway, missing, left } = found
      report.line(code === 1 && found.fatal !== '', `${what}: ends with ${code}, and logs why`)
      report.line(lastAck < 5_000, `${what}: last acknowledgement after ${lastAck.toFixed(0)} ms`)
      const isNew = left.includes('store')
      report.line(startedAway.code === 1 && !isNew, `${what}: started again it ends with ${startedAway.code}`)
      if (missing !== undefined) report.line(missing === 0, `${what}: missing when it is back: ${missing}`)
      await disk?.remove()
    }
  }
}

async function killTables(dataDir: string): Promise<void> {
  let remnants = 0
  for (let kill = 1; kill <= target.kills; kill++) {
    const { check, flipped } = await killWhileWritingTable(dataDir)
    remnants += check.stdout.split(': a remnant').length - 1
    report.line(check.code === 0, `kill ${kill} while a table is written: check ends with ${check.code}`)
    report.line(flipped === 1, `kill ${kill}: with another byte in a table it ends with ${flipped}`)
  }
  report.line(remnants > 0, `remnants that were named: ${remnants}`)
}

async function connectMany(dataDir: string): Promise<void> {
  const { descriptors, connections } = target
  const { open, statuses, logs, lines, failures } = await connectManyTo(dataDir, descriptors, connections)
  const what = `${descriptors} descriptors, ${connections} connections, ${open} of them kept`
  const isTaken = statuses.every(status => status === 201)
  report.line(isTaken && logs > 0, `${what}: ${statuses.length} writes taken, over ${logs} numbers of logs`)
  report.line(lines.length === 1, `${what}: lines of the log about it: ${lines.length}`)
  report.list(`${what}: failures`, failures)
}

try {
  await fillDisks()
  await withDirectory(async directory => {
    await takeDirectoriesAway(directory)
    await killTables(join(directory, 'killed'))
    await connectMany(join(directory, 'few-descriptors'))
  })
} finally {
  for (const disk of mounted) await disk.remove()
}
process.exitCode = report.broken === 0 ? 0 : 1
