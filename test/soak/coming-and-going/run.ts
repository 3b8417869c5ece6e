import { runComingAndGoing } from './load.ts'
import type { MemoryCurve } from './memory-curve.ts'

/** Of the memory of the server, bytes; and of what makes a run worth its name: shares of what was asked for. */
const bounds = { atEnd: 230e6, growthPerMinute: 1e6, rate: 0.98, failures: 0.01 }
const interval = 5

/** @returns whether the server kept its memory in bounds, and did what it was asked */
export async function soakComingAndGoing(minutes: number): Promise<boolean> {
  let isRight = true
  const judge = (ok: boolean, text: string) => {
    isRight &&= ok
    console.log(`${ok ? 'ok    ' : 'BROKEN'}  ${text}`)
  }
  const { paced, memory, exit } = await runComingAndGoing({
    things: 20,
    keys: 50,
    sessions: 3_000,
    seconds: minutes * 60,
    interval,
    onSample: showEachMinute(),
  })
  for (const { name, asked, achieved, count, failures } of paced) {
    const failed =
      failures.length === 0 ? '' : `; ${failures.length} failed: ${failures.slice(0, 3).join('; ')}`
    judge(
      achieved >= asked * bounds.rate && failures.length <= count * bounds.failures,
      `${achieved.toFixed(1)} ${name}/s${failed}`,
    )
  }
  judge(memory.atEnd <= bounds.atEnd, `resident ${megabytes(memory.atEnd)} MB at the end`)
  judge(
    memory.growth <= bounds.growthPerMinute,
    `grew by ${megabytes(memory.growth, 2)} MB a minute over the second half`,
  )
  judge(exit.code === 0, `the server ended with ${exit.code}`)
  return isRight
}

function showEachMinute(): (curve: MemoryCurve) => void {
  let minutes = 0
  return ({ samples }) => {
    const sample = samples.at(-1)
    if (!sample || sample.at < minutes * 60) return
    const { resident, heap, used, external } = sample
    const ofHeap = `V8's heap ${megabytes(heap)} MB with ${megabytes(used)} MB used`
    console.log(
      `minute ${minutes++}: resident ${megabytes(resident)} MB, ${ofHeap}, external ${megabytes(external)} MB`,
    )
  }
}

function megabytes(bytes: number, digits = 0): string {
  return (bytes / 1e6).toFixed(digits)
}
