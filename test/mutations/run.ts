/**
 * Shows that the conformance suite notices: runs it on a store as it is, which must be green, then on the store with
 * one promise broken after the other, each of which must turn it red. Exit status 1 otherwise.
 *
 * Usage: node --import tsx test/mutations/run.ts [--store memory|level]
 */
import { parseArgs } from 'node:util'
import { level, memory } from '../store/store-places.ts'
import { judge, mutations } from './judge.ts'

const stores = { memory, level }
const { values } = parseArgs({ options: { store: { type: 'string', default: 'memory' } } })
const store = stores[values.store as keyof typeof stores]
if (store === undefined) throw new Error(`--store must be one of ${Object.keys(stores).join(', ')}`)

const control = await judge(store)
print('(none)', control.red)
let survivors = 0
for (const [name, mutation] of mutations) {
  const { red } = await judge(store, mutation)
  if (red.length === 0) survivors++
  print(name, red)
}
console.log(
  `${values.store}: ${control.tests} tests, ${control.red.length} red unmutated; ` +
    `${mutations.length - survivors} of ${mutations.length} mutations noticed`,
)
process.exitCode = control.red.length > 0 || survivors > 0 ? 1 : 0

function print(name: string, red: readonly string[]): void {
  console.log(`${name.padEnd(32)} ${String(red.length).padStart(4)} red  ${red[0] ?? ''}`)
}
