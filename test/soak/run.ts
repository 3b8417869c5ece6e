import { parseArgs } from 'node:util'
import { soakComingAndGoing } from './coming-and-going/run.ts'
import { soakOrder } from './run-order.ts'

/**
 * `npm run soak [-- --load order --things 100 --records 100000 --rate 2000 --nodes 2]`: order and loss of live messages.
 * `npm run soak -- --load coming-and-going [--minutes 30]`: memory of one server while clients come and go.
 * Ends with status 1 if a promise broke. Linux only.
 */
const { values } = parseArgs({
  options: {
    load: { type: 'string', default: 'order' },
    things: { type: 'string', default: '100' },
    records: { type: 'string', default: '100000' },
    rate: { type: 'string', default: '2000' },
    padding: { type: 'string', default: '300' },
    nodes: { type: 'string', default: '0' },
    minutes: { type: 'string', default: '30' },
  },
})
const { load } = values
const [things, records, rate] = [values.things, values.records, values.rate].map(Number)
const [padding, nodes, minutes] = [values.padding, values.nodes, values.minutes].map(Number)
if (!things || !records || !rate || padding === undefined || nodes === undefined || !minutes)
  throw new Error('options are whole numbers')
if (load !== 'order' && load !== 'coming-and-going') throw new Error('load is order or coming-and-going')

const isKept =
  load === 'order'
    ? await soakOrder({ things, records, rate, padding, nodes })
    : await soakComingAndGoing(minutes)
process.exit(isKept ? 0 : 1)
