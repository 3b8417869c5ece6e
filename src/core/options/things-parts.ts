import { described } from './given-options.ts'

/**
 * What a plugin is given: the service as a host has it, whose parts it takes, or these parts themselves.
 *
 * @template Parts what the plugin needs of the service
 */
export type Pluggable<Parts> = Parts | { readonly parts: Parts }

/** @param plugin what a message calls it. @throws TypeError: it is no service */
export function partsOf<Parts extends object>(plugin: string, things: Pluggable<Parts>): Parts {
  const parts: unknown = isObject(things) && 'parts' in things ? things.parts : things
  if (isObject(parts) && 'ingest' in parts && 'live' in parts) return parts as Parts
  throw new TypeError(
    `things of ${plugin} must be the service that createThings gives: it is ${described(things)}`,
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
