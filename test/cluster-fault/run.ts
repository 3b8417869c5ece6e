import { parseArgs } from 'node:util'
import { Report } from '../fault/report.ts'
import { isolateNode, refuseNode } from './cuts.ts'
import { killNode, killRedis } from './kills.ts'
import { hangRedis, stopRedis } from './outages.ts'
import { type Fault, Rounds } from './rounds.ts'

/**
 * `npm run fault:nodes`: kills and outages of nodes and of Redis under load. Prints a line for each round; ends with
 * status 1 if a promise broke. `--rounds` of each fault, instead of what is said here.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string' } } })

interface Planned {
  readonly fault: Fault
  readonly rounds: number
}

/** Each on a service of its own. */
const scenarios: readonly (readonly Planned[])[] = [
  [
    { fault: killNode, rounds: 10 },
    { fault: killRedis, rounds: 5 },
  ],
  [
    { fault: hangRedis, rounds: 2 },
    { fault: stopRedis, rounds: 1 },
  ],
  [
    { fault: refuseNode, rounds: 2 },
    { fault: isolateNode, rounds: 2 },
  ],
]

const report = new Report()

async function runScenario(planned: readonly Planned[]): Promise<void> {
  const rounds = await Rounds.start()
  try {
    for (const { fault, rounds: count } of planned) {
      for (let number = 1; number <= Number(values.rounds ?? count); number++) {
        const began = performance.now()
        const { acks, violations, notes } = await rounds.run(fault)
        const took = `${((performance.now() - began) / 1_000).toFixed(0)} s`
        report.list([`${fault.name}, round ${number}`, `${acks} acks`, ...notes, took].join(', '), violations)
      }
    }
    console.log(`${rounds.acks} acks, and ${rounds.watchers.repeated} messages that came again to sessions`)
  } finally {
    await rounds.end()
  }
}

for (const planned of scenarios) await runScenario(planned)
report.line(report.broken === 0, `rounds in which a promise broke: ${report.broken}`)
process.exitCode = report.broken === 0 ? 0 : 1
