import { createProgress, readOptions } from '../../../bench/program.ts'
import { JudgedLines } from '../../helpers/judged-lines.ts'
import { fuzzFormat, subjects } from './fuzz.ts'

/**
 * `npm run fuzz:formats [-- --count 1000000 --seed 1 --only ttn]`: mutated samples of each registered format, or of those named. A format may refuse them, but throw
 * nothing else, give no record that the rules of a record cannot judge, and take at most twice as long as JSON.parse. Ends with status 1
 * otherwise.
 */

const defaults = { count: 1_000_000, seed: Math.floor(Math.random() * 1_000_000), only: [...subjects.keys()] }
const { count, seed, only } = readOptions(defaults)
const report = new JudgedLines()
for (const name of only) {
  const onProgress = createProgress(count, done => `${name}: ${done} messages of seed ${seed}`)
  const { findings, slowest } = fuzzFormat(name, { count, seed, onProgress })
  for (const finding of findings) report.line(false, `${name}, seed ${seed}: ${finding}`)
  if (findings.length === 0) report.line(true, `${name}: ${count} messages; slowest turn ${slowest}`)
}
process.exitCode = report.broken === 0 ? 0 : 1
