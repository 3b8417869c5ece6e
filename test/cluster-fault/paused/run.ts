import type { Report } from '../../fault/report.ts'
import { seconds } from '../words.ts'
import { clocks, planOf } from './plans.ts'
import { PausedRounds } from './rounds.ts'

/** So many rounds, on services side by side: they wait most of the time. */
export async function runPaused(count: number, report: Report): Promise<void> {
  let next = 0
  const broken = new Map<string, number>()
  const serve = async (ahead: readonly [number, number]) => {
    const rounds = await PausedRounds.start(ahead)
    try {
      while (next < count) {
        const number = next++
        const plan = planOf(number)
        const began = performance.now()
        const violations = await rounds.run(plan).catch((error: Error) => [`round: ${error.message}`])
        const what = [
          `a node is paused for ${seconds(plan.pause)}`,
          `round ${number + 1} of ${count}`,
          `the old connection ${plan.oldConnection}`,
          ...(plan.moveAfter > 0 ? [`clients move after ${seconds(plan.moveAfter)}`] : []),
          `clocks at ${ahead.join(' and ')} s`,
          seconds(performance.now() - began),
        ]
        report.list(what.join(', '), violations)
        for (const kind of new Set(violations.map(text => text.slice(0, text.indexOf(':'))))) {
          broken.set(kind, (broken.get(kind) ?? 0) + 1)
        }
      }
    } finally {
      await rounds.end()
    }
  }
  await Promise.all(clocks.slice(0, count).map(serve))
  for (const [kind, times] of broken) console.log(`${kind}: broken in ${times} of ${count} rounds`)
}
