import { isMagicKey, isOrdinaryKey } from '../../core/record/key.ts'
import { ThingwireError } from '../../errors.ts'

/** Maximum number of characters in a part of a path: enough for a percent-encoded `$settings` path of 16 names of 64 characters. */
export const maximumPathPart = 2048

export interface OfThing {
  Params: { ref: string }
}

export interface OfResource {
  Params: { ref: string; key: string }
}

/** The key in a path. @throws ThingwireError unknown_resource if the key is not valid */
export function resourceKey(params: { readonly key: string }): string {
  const { key } = params
  if (!isKey(key)) throw new ThingwireError('unknown_resource')
  return key
}

export function isKey(key: string): boolean {
  return isMagicKey(key) ? /^\$[A-Za-z0-9._-]+$/.test(key) : isOrdinaryKey(key)
}
