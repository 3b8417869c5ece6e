import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { noteResult, suitesIn } from './page.ts'

/** Runs the suites of docs/inside/qa.md, or those that are named, and notes there how long each took and how it ended. */

const page = 'docs/inside/qa.md'
/** What a suite prints. */
const logs = 'coverage/qa'

const suites = suitesIn(readFileSync(page, 'utf8'))
const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !suites.some(suite => suite.name === name))
if (unknown.length > 0) {
  console.error(
    `${page} has no suite ${unknown.join(', ')}: it has ${suites.map(({ name }) => name).join(', ')}`,
  )
  process.exit(2)
}
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
mkdirSync(logs, { recursive: true })
let failed = 0
for (const { name, command, minutes } of suites) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const log = `${logs}/${name.replace(':', '-')}.log`
  console.log(
    `${name}: ${minutes === undefined ? 'never run' : `${minutes} min the last time`}, prints to ${log}`,
  )
  const begun = performance.now()
  const [program = '', ...args] = command.split(' ')
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const file = createWriteStream(log)
  for (const stream of [child.stdout, child.stderr]) stream.pipe(file, { end: false })
  const [status] = (await once(child, 'close')) as [number | null]
  file.end()
  if (status !== 0) failed++
  const took = Math.ceil((performance.now() - begun) / 60_000)
  const result = `${new Date().toISOString().slice(0, 10)}, ${commit}: ${status === 0 ? 'passed' : `failed (exit ${status})`}`
  writeFileSync(page, noteResult(readFileSync(page, 'utf8'), name, took, result))
  console.log(`${name}: ${took} min, ${result}`)
}
process.exitCode = failed > 0 ? 1 : 0
