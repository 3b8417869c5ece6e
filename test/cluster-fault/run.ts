import { parseArgs } from 'node:util'
import { chosen, Report, withRounds } from '../rig/program.ts'
import type { Fault } from '../rig/rounds.ts'
import { faults } from './faults.ts'
import { runPaused } from './paused/rounds.ts'

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
  sources: [[faults.killNode, 30]],
}

/** Rounds of a node that is paused, each with a client of every kind, on services of their own. */
const paused = { name: 'pause', rounds: 200 }

const report = new Report()
for (const name of chosen([...Object.keys(scenarios), paused.name], values.only)) {
  const isBalanced = name === 'restart'
  // Behind a load balancer are servers as they are shipped, without the magic resource that counts.
  const everybody = ['heavy', 'steady', 'wills', ...(isBalanced ? [] : (['magic'] as const))] as const
  const cast = name === 'sources' ? (['household'] as const) : everybody
  if (name === paused.name) await runPaused(Number(values.rounds ?? paused.rounds), report)
  else
    await withRounds(report, { cast, writers, isBalanced }, async rounds => {
      for (const [fault, count] of scenarios[name] ?? []) {
        for (let number = 1; number <= Number(values.rounds ?? count); number++) {
          await report.round(rounds, fault, number)
        }
      }
    })
}
report.line(report.broken === 0, `rounds in which a promise broke: ${report.broken}`)
process.exitCode = report.broken === 0 ? 0 : 1
