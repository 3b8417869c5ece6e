import { described } from './given-options.ts'

/** The argument of a plugin: the service of a host program, or the parts of that service. */
export type Pluggable<Parts> = Parts | { readonly parts: Parts }

/** @param plugin name of the plugin in messages @throws TypeError if `things` is not a service */
export function partsOf<Parts extends object>(plugin: string, things: Pluggable<Parts>): Parts {
  const parts: unknown = isObject(things) && 'parts' in things ? things.parts : things
  if (isObject(parts) && 'ingest' in parts && 'live' in parts) return parts as Parts
  throw new TypeError(
    `things of ${plugin} must be the service that createThings gives, but it is ${described(things)}`,
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
