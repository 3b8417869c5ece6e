import { z } from 'zod'
import type { Access, Action } from '../access/access.ts'
import { shown } from '../core/options/given-options.ts'
import { isThingId } from '../core/token.ts'
import { ThingwireError } from '../errors.ts'

export const aThingId = { schema: z.string(), rule: 'the id of a thing' }

/**
 * Asserts that the thing exists. A host needs no credential, and has the rights of the operator.
 *
 * @throws ThingwireError unknown_thing, or an error of the store
 */
export async function thingOf(
  { access, adminKey }: { readonly access: Pick<Access, 'authorise'>; readonly adminKey: string },
  thingId: string,
  action: Action,
): Promise<void> {
  assertThingId(thingId)
  await access.authorise(thingId, adminKey, action)
}

/** @throws ThingwireError unknown_thing if the text does not have the form of an id, for example if it is a name */
export function assertThingId(text: string): void {
  // A token is refused too: it is a secret, and a host does not need it.
  if (isThingId(text)) return
  throw new ThingwireError(
    'unknown_thing',
    `no thing has the id ${shown(text)}: an id is 16 characters of a-z and 2-7; things.registry.named(name) finds the things with a name`,
  )
}
