import { parseArgs } from 'node:util'
import { Report } from '../fault/report.ts'
import { faults } from './faults.ts'
import { seconds } from './participant.ts'
import { runPaused } from './paused/rounds.ts'
import { type Fault, Rounds } from './rounds.ts'

/**
 * `npm run fault:nodes`: kills, outages and restarts of nodes and of Redis under load, and nodes that are paused and go on.
 * Prints a line for each round; ends with status 1 if a promise broke. `--rounds` of each fault, instead of those
 * here; `--only` the service of this name.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string' }, only: { type: 'string' } } })

/** Clients of each door that write as much as the service takes. */
const writers = 8

/** Faults with the rounds of each; every scenario on a service of its own. */
const scenarios: Readonly<Record<string, readonly (readonly [fault: Fault, rounds: number])[]>> = {
  kill: [
    [faults.killNode, 10],
    [faults.killRedis, 5],
  ],
  hang: [[faults.hangRedis, 2]],
  outage: [
    [faults.stopRedis, 2],
    [faults.restartRedis, 2],
  ],
  cut: [
    [faults.refuseNode, 2],
    [faults.isolateNode, 2],
  ],
  stop: [[faults.stopNode, 2]],
  restart: [[faults.restartNodes, 2]],
}

/** Rounds of a node that is paused, each with a client of every kind, on services of their own. */
const paused = { name: 'pause', rounds: 200 }

const report = new Report()

async function runScenario(name: string, planned: (typeof scenarios)[string]): Promise<void> {
  const rounds = await Rounds.start({ writers, isBalanced: name === 'restart' })
  try {
    for (const [fault, count] of planned) {
      for (let number = 1; number <= Number(values.rounds ?? count); number++) {
        const began = performance.now()
        const { acks, violations, overdue, notes } = await rounds.run(fault)
        const took = seconds(performance.now() - began)
        const what = [`${fault.name}, round ${number}`, `${acks} acks`, ...notes, took].join(', ')
        report.list(what, [...violations, ...overdue])
      }
    }
    console.log(`${rounds.acks} acks, and ${rounds.watchers.repeated} messages that came again to sessions`)
  } finally {
    await rounds.end()
  }
}

const names = [...Object.keys(scenarios), paused.name]
const chosen = names.filter(name => values.only === undefined || name === values.only)
if (chosen.length === 0) throw new Error(`--only takes one of ${names.join(', ')}`)
for (const name of chosen) {
  if (name === paused.name) await runPaused(Number(values.rounds ?? paused.rounds), report)
  else await runScenario(name, scenarios[name] ?? [])
}
report.line(report.broken === 0, `rounds in which a promise broke: ${report.broken}`)
process.exitCode = report.broken === 0 ? 0 : 1
