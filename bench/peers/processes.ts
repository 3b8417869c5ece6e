import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

/** What Linux says of a process. */

/** User and system time of a process and its children so far, microseconds; it is counted in hundredths of a second. */
export function processorTime(processId: number): number {
  const own = microsecondsOf(ticksOf(processId))
  return childrenOf(processId).reduce((sum, child) => sum + processorTime(child), own)
}

/** User and system time of the children of this process that have ended so far, microseconds; counted likewise. */
export function endedChildrenTime(): number {
  return microsecondsOf(ticksOf(process.pid).slice(2))
}

/** Bytes that a process has caused to be written to disk so far (`write_bytes`), or has written to files and sockets (`wchar`). */
export function bytesWritten(processId: number, field: 'write_bytes' | 'wchar' = 'write_bytes'): number {
  return Number(new RegExp(`^${field}: (\\d+)`, 'm').exec(readFileSync(`/proc/${processId}/io`, 'utf8'))?.[1])
}

/** Resident bytes of a process now. */
export function residentMemory(processId: number): number {
  return memoryOf(processId, 'VmRSS')
}

/** Most resident bytes of a process since the last `forgetPeak`. */
export function peakMemory(processId: number): number {
  return memoryOf(processId, 'VmHWM')
}

/** Sets the peak back to the present memory (proc(5)). */
export function forgetPeak(processId: number): void {
  writeFileSync(`/proc/${processId}/clear_refs`, '5')
}

/** The cores that this process may run on; the first of a machine is 0. */
export function allowedCores(): number[] {
  const ranges =
    /^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]?.split(',') ?? []
  return ranges.flatMap(range => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, place) => first + place)
  })
}

/** Keeps the main thread of a process on a core; its other threads stay free. */
export function keepMainThreadOn(core: number, processId: number): void {
  execFileSync('taskset', ['--cpu-list', '--pid', String(core), String(processId)], { stdio: 'pipe' })
}

function memoryOf(processId: number, field: string): number {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024
}

/** utime, stime, and those of children that have ended, are the 14th to 17th field (proc(5)). */
function ticksOf(processId: number): string[] {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return fields.slice(11, 15)
}

function microsecondsOf(ticks: readonly string[]): number {
  return ticks.reduce((sum, each) => sum + Number(each) * 10_000, 0)
}

function childrenOf(processId: number): number[] {
  const children = readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8')
  return children.split(' ').filter(Boolean).map(Number)
}
