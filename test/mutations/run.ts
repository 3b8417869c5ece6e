import { JudgedLines } from '../helpers/judged-lines.ts'
import { level } from '../store/store-places.ts'
import { mutations, redTests } from './judge.ts'

/**
 * `npm run mutations`: runs the conformance suite on LevelDB as it is, which must be green, then with one promise broken after the
 * other, each of which must turn it red. Ends with status 1 otherwise.
 */
const report = new JudgedLines()
for await (const red of redTests(level)) report.line(false, `no promise is broken, and red is ${red}`)
for (const [name, mutation] of mutations) {
  const { value: red } = await redTests(level, mutation).next()
  report.line(red !== undefined, `${name}: ${red === undefined ? 'not noticed' : `red: ${red}`}`)
}
process.exitCode = report.broken === 0 ? 0 : 1
