import { parseArgs } from 'node:util'
import { withDirectory } from '../../helpers/with-server.ts'
import { ForwardRounds } from './rounds.ts'

/**
 * `npm run fault:forward`: a server forwards to a central one while both are killed, the link is cut and the central store is
 * full. Prints what it found; ends with status 1 if a record is missing, doubled or out of order. `--rounds 12` has as many.
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '100' }, things: { type: 'string', default: '4' } },
})
const rounds = Number(values.rounds)
const things = Number(values.things)
if (!(rounds > 0 && things > 0)) throw new Error('--rounds and --things take a whole number from 1 on')

await withDirectory(async directory => {
  const onRound = (round: number, fault: string, records: number) =>
    console.log(`round ${round}: ${fault}; ${records} writes so far`)
  const run = await ForwardRounds.open({ directory, things, onRound })
  try {
    const violations = await run.run(rounds)
    for (const violation of violations) console.log(violation)
    console.log(
      `${violations.length === 0 ? 'ok' : 'BROKEN'}: ${rounds} rounds, ${violations.length} violations`,
    )
    process.exitCode = violations.length === 0 ? 0 : 1
  } finally {
    await run.end()
  }
})
