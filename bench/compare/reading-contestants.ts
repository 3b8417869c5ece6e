import { formatDatetime } from '../../src/core/record/datetime.ts'
import { write } from '../../test/helpers/http-client.ts'
import { get } from '../load/wrk.ts'
import { type Product, startProduct } from '../peers/product.ts'
import { valuesPerBatch } from './bodies.ts'
import type { Contestant, Session } from './comparison.ts'
import { phases } from './mqtt-contestants.ts'
import { settled, watch } from './usage.ts'

const key = 'depth'
const begin = Date.UTC(2026, 0, 1)
const records = 30_000
const second = 1_000
/** Of a thing that has no other records. */
const place = 50

const minutes = 500
const minute = 60 * second
/** Has no divisor in common with the span, so that neighbours in turn are far from each other. */
const stride = 7_919 * second
const span = records * second - minute

/** What is asked of a key with a record a second, by name: the query strings, in turn. */
export const questions: Readonly<Record<string, readonly string[]>> = {
  'read of the latest record': [''],
  'read of 100 records': ['?limit=100'],
  'read of 1,000 records': ['?limit=1000'],
  'read of a minute': minutesWith('&limit=100'),
  'read of a minute, oldest first': minutesWith('&limit=100&order=asc'),
  'read of six averages of a minute': minutesWith('&aggregate=avg&interval=10s'),
}

/** Of minutes here and there. */
function minutesWith(more: string): string[] {
  return Array.from({ length: minutes }, (_, turn) => {
    const from = begin + ((turn * stride) % span)
    return `?startDate=${formatDatetime(from)}&endDate=${formatDatetime(from + minute)}${more}`
  })
}

/** The server does most of the work: so few keep it busy. */
const connections = 16

/** Answers a second. */
export function reading(queries: readonly string[]): (session: Session) => Promise<Contestant> {
  return async session => {
    const peer = await startProduct(session)
    const { thingToken } = await fill(peer, session)
    // Packed by then.
    await settled(peer)
    const base = `/v2/things/${thingToken}/resources/${key}`
    const gets = { url: peer.server.url, connections, paths: queries.map(query => `${base}${query}`) }
    return {
      turn: async () => {
        const { result, cores } = await watch(peer, marks => get(gets, phases(session), marks))
        await settled(peer)
        return { figure: result.done / result.seconds, cores }
      },
      peer,
      stop: () => peer.stop(),
    }
  }
}

async function fill({ server }: Product, { filled }: Session) {
  const thing = filled.things[place]
  if (!thing) throw new Error('the filled store has too few things')
  for (let first = 0; first < records; first += valuesPerBatch) {
    const values = Array.from({ length: valuesPerBatch }, (_, index) => ({
      key,
      value: 20 + index / 10,
      datetime: formatDatetime(begin + (first + index) * second),
    }))
    const { status } = await write(server, thing, { values })
    if (status !== 201) throw new Error(`a record to be read was answered with ${status}`)
  }
  return thing
}
