import type { ServerClient } from '../client/client.ts'
import { type ReadRecord, readItems } from '../reading/read-records.ts'

const settingsKey = '$settings'
const metaKey = '$meta'
const pathPart = /^[A-Za-z0-9_-]{1,64}$/

/** Whether the state of a magic resource is a document that records patch. */
export function isDocument(key: string): boolean {
  return key === settingsKey || key === metaKey
}

/**
 * The records written to a document of a thing, oldest first, and last records that result in the present document. The other
 * records alone may result in another document: the server does not return records of removed paths, and late records were not
 * applied in the order of their datetimes.
 */
export async function documentRecords(
  client: ServerClient,
  thingId: string,
  key: string,
): Promise<readonly ReadRecord[]> {
  const [state] = await client.call<ReadRecord[]>(`/v2/things/${thingId}/resources/${key}`)
  const written: ReadRecord[] = []
  for (const each of key === settingsKey ? keysIn(state) : [key]) {
    for await (const record of readItems<ReadRecord>(client, [thingId, each], { order: 'asc' })) {
      written.push(record)
    }
  }
  written.sort((one, other) => Date.parse(one.datetime) - Date.parse(other.datetime))
  if (!state) return written
  const patches = written.map(asDocument)
  if (key === settingsKey)
    return [...written, { key, value: patchTo(state.value, patches), datetime: state.datetime }]
  // What a discovery has set replaces nothing, so every description is removed first. Neither record may equal a written one, since
  // the server ignores equal records.
  const newest = [...written, state].reduce((time, { datetime }) => Math.max(time, Date.parse(datetime)), 0)
  const datetime = new Date(newest + 1).toISOString()
  return [...written, ...[patchTo({}, patches), state.value].map(value => ({ key, value, datetime }))]
}

/** `$settings`, and the key of every path in the document. */
export async function settingsKeys(client: ServerClient, thingId: string): Promise<readonly string[]> {
  const [state] = await client.call<ReadRecord[]>(`/v2/things/${thingId}/resources/${settingsKey}`)
  return keysIn(state)
}

function keysIn(state: ReadRecord | undefined): readonly string[] {
  return [settingsKey, ...pathsOf(state?.value, settingsKey)]
}

/** The keys of all members at any depth whose names may be part of a key. */
function pathsOf(document: unknown, above: string): string[] {
  if (!isObject(document)) return []
  return Object.entries(document)
    .filter(([name]) => pathPart.test(name))
    .flatMap(([name, value]) => [`${above}.${name}`, ...pathsOf(value, `${above}.${name}`)])
}

/** The document that a record sets: `{a: {b: 1}}` for `$settings.a.b` = 1. */
function asDocument({ key, value }: ReadRecord): unknown {
  const [, ...path] = key.split('.')
  return path.reduceRight<unknown>((below, name) => ({ [name]: below }), value)
}

/** The merge patch (RFC 7396) that results in `document`, whichever of the `written` patches were applied before it. */
function patchTo(document: unknown, written: readonly unknown[]): unknown {
  if (!isObject(document)) return document
  const objects = written.filter(isObject)
  const names = new Set([...objects.flatMap(Object.keys), ...Object.keys(document)])
  const members = [...names].map(name => {
    if (!Object.hasOwn(document, name)) return [name, null]
    return [
      name,
      patchTo(
        document[name],
        objects.map(object => object[name]),
      ),
    ]
  })
  return Object.fromEntries(members)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
