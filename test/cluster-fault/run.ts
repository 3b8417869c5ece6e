import { parseArgs } from 'node:util'
import { Report } from '../fault/report.ts'
import { isolateNode, refuseNode } from './cuts.ts'
import { killNode, killRedis, stopNode } from './kills.ts'
import { hangRedis, restartRedis, stopRedis } from './outages.ts'
import { runPaused } from './paused/run.ts'
import { restartNodes } from './restarts.ts'
import { type Fault, Rounds } from './rounds.ts'

/**
 * `npm run fault:nodes`: kills, outages and restarts of nodes and of Redis under load, and nodes that are paused and go on.
 * Prints a line for each round; ends with status 1 if a promise broke. `--rounds` of each fault, instead of what is said
 * here; `--only` the service of this name.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string' }, only: { type: 'string' } } })

interface Planned {
  readonly fault: Fault
  readonly rounds: number
}

/** Clients of each door that write as much as the service takes. */
const writers = 8

/** Each on a service of its own. */
const scenarios: Readonly<Record<string, readonly Planned[]>> = {
  kill: [
    { fault: killNode, rounds: 10 },
    { fault: killRedis, rounds: 5 },
  ],
  hang: [{ fault: hangRedis, rounds: 2 }],
  outage: [
    { fault: stopRedis, rounds: 2 },
    { fault: restartRedis, rounds: 2 },
  ],
  cut: [
    { fault: refuseNode, rounds: 2 },
    { fault: isolateNode, rounds: 2 },
  ],
  stop: [{ fault: stopNode, rounds: 2 }],
  restart: [{ fault: restartNodes, rounds: 2 }],
}

/** Rounds of a node that is paused, each with a client of every kind, on services of their own. */
const paused = { name: 'pause', rounds: 200 }

const report = new Report()

async function runScenario(name: string, planned: readonly Planned[]): Promise<void> {
  const rounds = await Rounds.start({ writers, isBalanced: name === 'restart' })
  try {
    for (const { fault, rounds: count } of planned) {
      for (let number = 1; number <= Number(values.rounds ?? count); number++) {
        const began = performance.now()
        const { acks, violations, overdue, notes } = await rounds.run(fault)
        const took = `${((performance.now() - began) / 1_000).toFixed(0)} s`
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
