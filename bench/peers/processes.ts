import { readFileSync } from 'node:fs'

/** What Linux says of a process. */

/** User and system time of a process and its children so far, microseconds; it is counted in hundredths of a second. */
export function processorTime(processId: number): number {
  const [own, ...children] = [processId, ...childrenOf(processId)]
  return timeOf(own ?? 0) + children.reduce((sum, child) => sum + processorTime(child), 0)
}

/** User and system time of the children of this process that have ended so far, microseconds; counted likewise. */
export function endedChildrenTime(): number {
  return microsecondsOf(ticksOf(process.pid).slice(2))
}

/** Bytes that a process has caused to be written to disk so far. */
export function bytesWritten(processId: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${processId}/io`, 'utf8'))?.[1])
}

/** Resident bytes of a process now. */
export function residentMemory(processId: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1]) * 1024
}

function timeOf(processId: number): number {
  return microsecondsOf(ticksOf(processId))
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
