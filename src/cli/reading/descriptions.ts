import { RefusedError, type ServerClient } from '../client/client.ts'
import { type ReadRecord, resourcePath } from './read-records.ts'

/** The description of a resource in the state of `$meta` (contract §5.3). */
export interface Description {
  readonly name?: string
  readonly unit?: string
  readonly kind?: string
  readonly total?: boolean
  readonly decimals?: number
  readonly hidden?: boolean
  readonly discovered?: readonly string[]
}

/** The descriptions of a thing's resources by key; empty if there are none, or the server is too old to have any. */
export async function readDescriptions(
  client: ServerClient,
  thingId: string,
): Promise<Readonly<Record<string, Description>>> {
  const asked = client.call<readonly ReadRecord[]>(resourcePath(thingId, '$meta', {}))
  const [state] = await asked.catch((error: unknown) => {
    if (error instanceof RefusedError && error.reason === 'unknown_resource') return []
    throw error
  })
  return (state?.value ?? {}) as Readonly<Record<string, Description>>
}

/** A value as people read it: a number with the decimals and the unit of its resource, such as `21.50 °C`. */
export function measured(value: unknown, { unit, decimals }: Description = {}): unknown {
  if (typeof value !== 'number') return value
  const number = decimals === undefined ? value : value.toFixed(decimals)
  return unit === undefined ? number : `${number} ${unit}`
}
