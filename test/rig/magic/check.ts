import { isDeepStrictEqual } from 'node:util'
import { type ReadRecord, readAll, type Thing } from '../../helpers/http-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { retainedOf } from '../views.ts'
import type { MagicModel } from './model.ts'

const stateKeys = ['$geo', '$settings', '$count'] as const

/** What is wrong with the states of a thing, over REST and as retained messages, in words. */
export async function checkStates(server: ServerProcess, thing: Thing, model: MagicModel): Promise<string[]> {
  const wrong = stateKeys.map(async key => {
    const item = await readItem(server, thing, key)
    const what = `${key} of ${thing.thingId} is`
    const due = model.state(key)
    if (!isDeepStrictEqual(item?.value, due))
      return [`${what} ${JSON.stringify(item?.value)}, not ${JSON.stringify(due)}`]
    // Retained messages are what REST gives (contract §7).
    const message = item && (await retainedOf(server, thing, key, 1)).get(key)
    if (isDeepStrictEqual(message, item)) return []
    return [`retained ${what} ${JSON.stringify(message)}, not ${JSON.stringify(item)}`]
  })
  return (await Promise.all(wrong)).flat()
}

/** What is wrong with the history of a thing's magic resources, in words. */
export async function checkHistory(
  server: ServerProcess,
  thing: Thing,
  model: MagicModel,
): Promise<string[]> {
  const wrong: string[] = []
  for (const [key, kept] of model.history) {
    const stored = await readAll(server, thing, key)
    const values = new Set(stored.map(({ value }) => JSON.stringify(value)))
    const dated = new Set(stored.map(({ value, datetime }) => `${datetime} ${JSON.stringify(value)}`))
    const isThere = ({ value, datetime }: (typeof kept)[number]) =>
      datetime === undefined
        ? values.has(JSON.stringify(value))
        : dated.has(`${new Date(datetime).toISOString()} ${JSON.stringify(value)}`)
    const missing = kept.filter(record => !isThere(record))
    if (missing.length > 0) wrong.push(`${key} of ${thing.thingId}: missing ${JSON.stringify(missing[0])}`)
    if (stored.length !== kept.length) {
      wrong.push(`${key} of ${thing.thingId}: ${stored.length} records, not ${kept.length}`)
    }
  }
  return wrong
}

/** The newest of a resource; undefined if there is none. */
export async function readItem(
  { url }: ServerProcess,
  { thingToken }: Thing,
  key: string,
): Promise<ReadRecord | undefined> {
  const response = await fetch(`${url}/v2/things/${thingToken}/resources/${encodeURIComponent(key)}`)
  const items = (await response.json()) as ReadRecord[]
  return response.status === 200 ? items[0] : undefined
}
