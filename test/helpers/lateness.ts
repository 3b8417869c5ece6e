import { expect, type TestContext } from 'vitest'
import { readAll, type ServerAddress, type Thing } from './http-client.ts'

/** By less than this the clocks of two processes differ, as a server compares them, milliseconds. */
const inaccuracy = 500

/**
 * Asserts that nothing came before its time, and annotates the test with how late each was (`--reporter=verbose` prints it): how
 * late is a matter of the machine, too.
 *
 * @param times when each happened and when it was due, by its name, milliseconds since 1970
 */
export async function reportLateness(
  { annotate }: TestContext,
  times: Readonly<Record<string, readonly [at: number | undefined, due: number]>>,
): Promise<void> {
  for (const [name, [at = Number.NaN, due]] of Object.entries(times)) {
    expect(at, name).toBeGreaterThan(due - inaccuracy)
    await annotate(`${name}: ${at - due} ms late`)
  }
}

/** When each value of a resource was written, milliseconds since 1970. */
export async function writtenAt(
  server: ServerAddress,
  thing: Thing,
  key: string,
): Promise<ReadonlyMap<unknown, number>> {
  const written = await readAll(server, thing, key)
  return new Map(written.map(({ value, datetime }) => [value, Date.parse(datetime)]))
}
