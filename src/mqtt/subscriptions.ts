import type { Access } from '../access/access.ts'
import { isToken } from '../core/token.ts'
import type { Connection } from './connection.ts'
import type { Subscription } from './interest.ts'
import { parseThingFilter, refOfThingTopic, withRef } from './topics.ts'
import { unlessRefused } from './unless-refused.ts'

/**
 * Subscriptions to what is ours (contract §7, filters). Inside the service topics carry thing ids; a client sees a
 * thing under the spelling with which it subscribed to it last.
 */

/** A filter of a SUBSCRIBE that is granted. */
export interface Granted extends Omit<Subscription, 'from'> {
  /** undefined: every thing */
  readonly thingId: string | undefined
}

/**
 * Grants a filter.
 *
 * @returns undefined if it is refused
 * @throws ThingwireError if it cannot be told now
 */
export async function grantFilter(
  connection: Connection,
  { topic: filter, qos }: { readonly topic: string; readonly qos: 0 | 1 | 2 },
  access: Access,
): Promise<Granted | undefined> {
  const parsed = parseThingFilter(filter)
  const { admission } = connection
  if (!parsed || !admission) return undefined
  const { ref } = parsed
  if (ref === '+') {
    const isAdmin = await unlessRefused(access.authoriseAdmin(admission.credential).then(() => true))
    return isAdmin ? { filter, qos, thingId: undefined } : undefined
  }
  const asking = access.authorise(ref, admission.credential, 'read refused writes')
  const thingId = await unlessRefused(asking)
  if (thingId === undefined) return undefined
  return { filter: withRef(filter, thingId), qos, thingId, ...(isToken(ref) && { isSpelledAsToken: true }) }
}

/** The spellings of a session that its client finds again; a token is not kept, but its client may present one. */
export function restoreSpellings({ spellings, admission, session }: Connection): void {
  const credential = admission?.credential
  if (credential === undefined || !isToken(credential)) return
  for (const { filter, isSpelledAsToken } of session?.interests ?? []) {
    const thingId = parseThingFilter(filter)?.ref
    // That of the one thing that it is for: of another one's it knows nothing.
    if (thingId === undefined || !admission?.clientId.startsWith(`thing.${thingId}:`)) continue
    spellings.set(thingId, isSpelledAsToken ? credential : thingId)
  }
}

/** A filter of an UNSUBSCRIBE as it is inside the broker. */
export async function canonicalFilter(filter: string, access: Access): Promise<string> {
  const ref = refOfThingTopic(filter)
  if (ref === undefined || !isToken(ref)) return filter
  // A token that is not valid any more has no subscription that could be meant.
  return await access.thingOfToken(ref).then(
    thingId => withRef(filter, thingId),
    () => filter,
  )
}
