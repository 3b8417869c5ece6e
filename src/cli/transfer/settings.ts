import type { ServerClient } from '../client/client.ts'
import { type ReadRecord, readItems } from '../reading/read-records.ts'

const settingsKey = '$settings'
const pathPart = /^[A-Za-z0-9_-]{1,64}$/

/**
 * What was written to the settings of a thing, oldest first, and at the end one record more that makes the document what
 * it is now: the server does not give what was written to a path that is gone, and late records were applied in another
 * order than that of time.
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

/** Keys of every member at any depth that has one. */
function pathsOf(document: unknown, above: string): string[] {
  if (!isObject(document)) return []
  return Object.entries(document)
    .filter(([name]) => pathPart.test(name))
    .flatMap(([name, value]) => [`${above}.${name}`, ...pathsOf(value, `${above}.${name}`)])
}

/** What a record says, as a document from the top: `$settings.a.b` = 1 is `{a: {b: 1}}`. */
function asDocument({ key, value }: ReadRecord): unknown {
  const path = key === settingsKey ? [] : key.slice(settingsKey.length + 1).split('.')
  return path.reduceRight<unknown>((below, name) => ({ [name]: below }), value)
}

/** The merge patch (RFC 7396) that makes `document` of whatever was made of some of `written`. */
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
