import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { readOptions } from '../program.ts'
import { judgeFilters } from './filters.ts'
import { judgeFull } from './full.ts'
import { judgeSessions } from './sessions.ts'

/**
 * `npm run bench:kept [-- --only filters --messages 3000]`: messages on other topics in a heap of 512 MB. `sessions`: the memory and
 * the bytes written for one message of 1 MB for many sessions that are away, and the longest turn of the event loop for many small
 * ones. `filters`: the time of messages to a client with 2,000 filters, beside a client with one. `full`, which takes minutes and is
 * tried by its name alone: what others are refused while one principal keeps all that it may; `full:bytes`, `full:shared` and
 * `full:single` are its parts. Exits with 1 if a bound is missed. Linux only.
 */

/** `beyond`: times the bound of a principal that `full` publishes. */
const { only, messages, beyond } = readOptions({ only: '', messages: 3_000, beyond: 1.2 })
const judged = new JudgedLines()
if ('sessions'.startsWith(only)) await judgeSessions(judged, messages)
if ('filters'.startsWith(only)) await judgeFilters(judged)
const [part, way = ''] = only.split(':')
if (part === 'full') await judgeFull(judged, way, beyond)
process.exit(judged.broken === 0 ? 0 : 1)
