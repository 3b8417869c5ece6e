import { readFileSync } from 'node:fs'

/** Resident memory of a process, bytes. */
export interface Memory {
  readonly start: number
  readonly highest: number
  readonly end: number
  /** Seconds of processor time. */
  readonly processor: number
}

const interval = 200

/** Looks at it until it is told to stop. Linux only. */
export function watchMemory(processId: number): { stop(): Memory } {
  const start = residentMemory(processId) ?? 0
  let highest = start
  let end = start
  let processor = 0
  const timer = setInterval(() => {
    const now = residentMemory(processId)
    if (now === undefined) return
    highest = Math.max(highest, now)
    end = now
    processor = processorTime(processId)
  }, interval)
  return {
    stop: () => {
      clearInterval(timer)
      return { start, highest, end, processor }
    },
  }
}

/** @returns undefined if the process is gone */
function residentMemory(processId: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${processId}/status`, 'utf8')
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status)?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined
  }
}

/** User and system time in hundredths of a second are the 14th and 15th field (proc(5)). */
function processorTime(processId: number): number {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
