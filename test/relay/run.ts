import { readOptions } from '../../bench/program.ts'
import { withDirectory } from '../helpers/with-server.ts'
import { exchange } from './exchange.ts'

/**
 * `npm run relay [-- --messages 100000]`: messages on other topics between mosquitto, paho and mqtt.js, and as many writes on the
 * same connections; then the same with the server killed in the middle. Ends with status 1 if a promise broke.
 */
const { messages } = readOptions({ messages: 100_000 })
if (!Number.isInteger(messages) || messages < 10) throw new Error('--messages is a whole number from 10 on')

let isKept = true
for (const isKilled of [false, true]) {
  const begin = performance.now()
  const faults = await withDirectory(dataDir => exchange({ dataDir, messages, isKilled }))
  const seconds = (performance.now() - begin) / 1_000
  const how = isKilled ? 'server killed in the middle' : 'server left alone'
  console.log(`${how}: ${messages} messages and writes in ${seconds.toFixed(1)} s, ${faults.length} faults`)
  for (const fault of faults) console.log(`  ${fault}`)
  isKept &&= faults.length === 0
}
process.exit(isKept ? 0 : 1)
