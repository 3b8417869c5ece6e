import type { ServerClient } from '../client/client.ts'
import { type ReadRecord, readItems } from '../reading/read-records.ts'

const settingsKey = '$settings'
const pathPart = /^[A-Za-z0-9_-]{1,64}$/

/**
 * The records written to the settings of a thing, oldest first, and a last record that results in the present document. The other
 * records alone may result in another document: the server does not return records of removed paths, and late records were not
 * applied in the order of their datetimes.
 */
export async function settingsRecords(client: ServerClient, thingId: string): Promise<readonly ReadRecord[]> {
  const [state] = await client.call<ReadRecord[]>(`/v2/things/${thingId}/resources/${settingsKey}`)
  const written: ReadRecord[] = []
  for (const key of keysIn(state)) {
    for await (const record of readItems<ReadRecord>(client, [thingId, key], { order: 'asc' })) {
      written.push(record)
    }
  }
  written.sort((one, other) => Date.parse(one.datetime) - Date.parse(other.datetime))
  if (!state) return written
  const value = patchTo(state.value, written.map(asDocument))
  return [...written, { key: settingsKey, value, datetime: state.datetime }]
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

/** The settings document that a record sets: `{a: {b: 1}}` for `$settings.a.b` = 1. */
function asDocument({ key, value }: ReadRecord): unknown {
  const path = key === settingsKey ? [] : key.slice(settingsKey.length + 1).split('.')
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
