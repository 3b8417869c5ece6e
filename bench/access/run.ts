import { parseArgs } from 'node:util'
import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { withServer } from '../../test/helpers/with-server.ts'
import { createProgress } from '../load/progress.ts'
import { median } from '../statistics.ts'
import { measureExpiry } from './expiry.ts'
import { Load, writesPerSecond } from './load.ts'
import { measureRevocation, type RevocableName, revocables } from './revocation.ts'
import { measureRotation } from './rotation.ts'
import { type Closings, kinds } from './witnesses.ts'

/**
 * `npm run bench:access [-- --seconds 20]`: how soon what a credential has opened is closed when that is revoked or has
 * expired, and what a thing loses that changes its token, on a server that takes 500 writes a second meanwhile. `--seconds` are
 * shared by the three, half of them by revocation. Ends with status 1 if a bound is missed.
 */

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '20' } } })
/** Milliseconds (contract §6). */
const bound = 1_000
const seconds = Number(values.seconds)

const judged = new JudgedLines()
await withServer({}, async server => {
  const load = await Load.start(server)
  await benchRevocation(server)
  await benchExpiry(server)
  await benchRotation(server)
  const { rate, failed } = await load.stop()
  judged.line(
    failed === 0,
    `load meanwhile: ${rate.toFixed(0)} of ${writesPerSecond} writes/s acknowledged, ${failed} refused or cut off`,
  )
})
process.exitCode = judged.broken === 0 ? 0 : 1

async function benchRevocation(server: ServerProcess): Promise<void> {
  const names = Object.keys(revocables) as RevocableName[]
  const progress = createProgress(names.length, done => `kinds of credentials revoked: ${done}`)
  const measured = new Map<RevocableName, Closings>()
  for (const name of names) {
    measured.set(name, await measureRevocation(server, name, seconds / 2 / names.length))
    progress(measured.size)
  }
  for (const [name, closings] of measured) {
    judge(`${name} revoked again and again, from the answer of the DELETE`, closings)
  }
}

async function benchExpiry(server: ServerProcess): Promise<void> {
  const closings = await measureExpiry(server, seconds / 4)
  judge('sessions of 1 to 3 s expired, from expiresAt', closings, 0)
}

async function benchRotation(server: ServerProcess): Promise<void> {
  const report = await measureRotation(server, seconds / 4)
  const { rotations, acked, lost, doubled, received, missing, outOfOrder, sessionsLost } = report
  const { repeatedWithoutDup, repeatedWithDup } = report
  const isWhole = lost + doubled + missing + outOfOrder + repeatedWithoutDup + sessionsLost === 0
  judged.line(
    isWhole && acked > 0 && rotations > 0,
    `a token changed ${rotations} times: ${acked} writes acknowledged, of which ${lost} not stored and ${doubled} twice; ` +
      `its subscriber got ${received} messages, ${missing} missing, ${outOfOrder} out of order, ` +
      `${repeatedWithDup} again with DUP, ${repeatedWithoutDup} without; session lost ${sessionsLost} times`,
  )
}

/** @param least milliseconds, if what is closed before is wrong, too */
function judge(what: string, closings: Closings, least = Number.NEGATIVE_INFINITY): void {
  console.log(`\n${what} to the end of what was open (bound ${bound} ms):`)
  for (const kind of kinds) {
    const delays = closings.of(kind)
    const [first = Number.NaN, last = Number.NaN] = [delays[0], delays.at(-1)]
    judged.line(
      last <= bound && first >= least,
      `${kind}: median ${median(delays)} ms, max ${last} ms (${delays.length})`,
    )
  }
}
