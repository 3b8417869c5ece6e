import { readAll, type ServerAddress, type Thing } from '../helpers/http-client.ts'
import { eventually } from '../helpers/waiting.ts'

/** The body of a write of one record, without a datetime: what is stored first reads back first. */
export function body(key: string, value: unknown): string {
  return JSON.stringify({ values: [{ key, value }] })
}

/** Bodies of `count` writes of the values 0, 1, 2 and so on. */
export function bodies(key: string, count: number): string[] {
  return Array.from({ length: count }, (_, value) => body(key, value))
}

/** The values 0, 1, 2 and so on. */
export function valuesTo(count: number): number[] {
  return Array.from({ length: count }, (_, value) => value)
}

/** The values of a resource, oldest first. */
export async function storedValues(server: ServerAddress, thing: Thing, key: string): Promise<unknown[]> {
  const records = await readAll(server, thing, key)
  return records.map(({ value }) => value).toReversed()
}

/** As `storedValues`, once there are so many: for writes that no answer tells of. @throws Error past the deadline */
export async function valuesOnceStored(
  server: ServerAddress,
  thing: Thing,
  key: string,
  count: number,
): Promise<unknown[]> {
  // Before the first there is no such resource.
  const read = () => storedValues(server, thing, key).catch(() => [])
  if (await eventually(async () => (await read()).length >= count)) return await read()
  throw new Error(`fewer than ${count} records of ${key} were stored`)
}
