import { isMagicKey, isOrdinaryKey } from '../../core/record/key.ts'
import { ThingwireError } from '../../errors.ts'

/** Longest part of a path: a `$settings` path of 16 parts of 64 characters, percent-encoded here and there. */
export const maximumPathPart = 2048

/** A path on a thing. */
export interface OfThing {
  Params: { ref: string }
}

/** A path on one of a thing's resources. */
export interface OfResource {
  Params: { ref: string; key: string }
}

/**
 * The key that a path names.
 *
 * @throws ThingwireError unknown_resource if no resource can have this name
 */
export function resourceKey(params: { readonly key: string }): string {
  const { key } = params
  if (!isKey(key)) throw new ThingwireError('unknown_resource')
  return key
}

/** Whether a resource can have this name. */
export function isKey(key: string): boolean {
  return isMagicKey(key) ? /^\$[A-Za-z0-9._-]+$/.test(key) : isOrdinaryKey(key)
}
