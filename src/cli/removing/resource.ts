import { orIfRefused, type ServerClient } from '../client/client.ts'
import type { NamedThing } from '../client/named-thing.ts'
import {
  countRecords,
  knownKeys,
  listResources,
  type ReadRecord,
  readItems,
  resourcePath,
} from '../reading/read-records.ts'
import type { TimeRange } from '../time.ts'
import { settingsKeys } from '../transfer/documents.ts'

export interface Resource {
  readonly thing: NamedThing
  readonly key: string
}

/** Number and time span of the records of a resource in a range. */
export interface RecordsInRange {
  readonly records: number
  /** Datetime of the earliest record, RFC 3339. `last` is the datetime of the latest record. */
  readonly first: string
  readonly last: string
}

/** The thing's resources with these keys; without `keys`, all resources. `$settings` includes all paths of the settings. */
export async function resourcesOf(
  client: ServerClient,
  thing: NamedThing,
  keys: readonly string[] | undefined,
): Promise<readonly Resource[]> {
  const found = keys
    ? (await knownKeys(client, thing.thingId, keys)).known
    : await listResources(client, thing.thingId)
  return found.map(key => ({ thing, key }))
}

/**
 * What a removal would remove. Records written to a settings path that is no longer in the document are not counted, since the
 * server does not list such paths.
 *
 * @returns undefined if there is nothing to remove
 */
export async function lookInRange(
  client: ServerClient,
  { thing: { thingId }, key }: Resource,
  range: TimeRange,
): Promise<RecordsInRange | undefined> {
  let found: RecordsInRange | undefined
  for (const each of key === '$settings' ? await settingsKeys(client, thingId) : [key]) {
    const part = await lookAtKey(client, thingId, each, range)
    if (part) found = found ? both(found, part) : part
  }
  return found
}

async function lookAtKey(
  client: ServerClient,
  thingId: string,
  key: string,
  range: TimeRange,
): Promise<RecordsInRange | undefined> {
  // Without a range, the server would return the state of a magic resource instead of its records.
  const query = { startDate: '19700101000000', ...range }
  const at = async (order: 'asc' | 'desc') => {
    for await (const record of readItems<ReadRecord>(client, [thingId, key], { ...query, order }, 1)) {
      return record.datetime
    }
    return undefined
  }
  const [first, last] = [await at('asc'), await at('desc')]
  if (first === undefined || last === undefined) return undefined
  return { records: await countRecords(client, thingId, key, query), first, last }
}

/** Combines two results. All datetimes have the same form, so their texts can be compared. */
function both(one: RecordsInRange, other: RecordsInRange): RecordsInRange {
  return {
    records: one.records + other.records,
    first: one.first < other.first ? one.first : other.first,
    last: one.last > other.last ? one.last : other.last,
  }
}

/** @returns the number of removed records; 0 if the resource or its thing was removed meanwhile */
export async function removeInRange(
  client: ServerClient,
  { thing: { thingId }, key }: Resource,
  range: TimeRange,
): Promise<number> {
  const asked = client.call<{ deleted: number }>(resourcePath(thingId, key, range), { method: 'DELETE' })
  return (await orIfRefused(asked, 404, { deleted: 0 })).deleted
}
