import { onTestFinished } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createThings, type Things, type ThingsOptions } from '../../src/things.ts'

/** The service as a host has it, on a store in memory, with one thing; closed at the end of the test. */
export async function thingsOfTest(
  options: Partial<ThingsOptions> = {},
): Promise<{ readonly things: Things; readonly thingId: string; readonly thingToken: string }> {
  const things = await createThings({ store: createMemoryStore(), adminKey: createToken(), ...options })
  onTestFinished(() => things.close())
  return { things, ...(await things.registry.create({})) }
}
