import { execFile } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { cpus, loadavg, release, type } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { quantile } from '../statistics.ts'

const run = promisify(execFile)

export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly kernel: string
  readonly node: string
  /** Of the directory where the stores are. */
  readonly fileSystem: string
  /** Of the last minute; what others do is in every figure. */
  readonly loadAverage: number
  readonly sync: SyncTimes
}

/** Of one fdatasync, milliseconds. */
export interface SyncTimes {
  readonly p50: number
  readonly p99: number
}

export async function describeMachine(directory: string): Promise<Machine> {
  const processors = cpus()
  const { stdout } = await run('df', ['--output=fstype,source', directory])
  return {
    processor: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    kernel: `${type()} ${release()}`,
    node: process.version,
    fileSystem: (stdout.split('\n')[1] ?? '').split(/\s+/).join(' on '),
    loadAverage: loadavg()[0] ?? Number.NaN,
    sync: await timeSyncs(directory, 1),
  }
}

/** Bytes that are appended before each fdatasync: about a commit under load. */
const appended = Buffer.alloc(4_096, 'a')

/** Appends to a file and syncs it, again and again, for so many seconds. */
export async function timeSyncs(directory: string, seconds: number): Promise<SyncTimes> {
  const path = join(directory, 'fdatasync')
  const file = await open(path, 'w')
  const times: number[] = []
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
    await file.write(appended)
    const begin = performance.now()
    await file.datasync()
    times.push(performance.now() - begin)
  }
  await file.close()
  await rm(path)
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}
