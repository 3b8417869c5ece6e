import type { Access } from '../access/access.ts'
import { isToken } from '../core/token.ts'
import type { Connection } from './connection.ts'
import { isThingwireTopic, parseThingFilter, refOfThingTopic, withRef, writeTopic } from './topics.ts'
import { unlessRefused } from './unless-refused.ts'

/**
 * Subscriptions to what is ours (contract §7, filters). Inside the broker topics carry thing ids; a client sees a
 * thing under the spelling with which it subscribed to it last.
 */

/**
 * Grants a filter, and remembers how the client spells its thing.
 *
 * @returns the filter with the id in the place of a token, and the thing if it is for one; undefined if it is refused
 * @throws ThingwireError if it cannot be told now
 */
export async function grantFilter(
  connection: Connection,
  filter: string,
  access: Access,
): Promise<{ readonly filter: string; readonly thingId?: string } | undefined> {
  const parsed = parseThingFilter(filter)
  const { admission } = connection
  if (!parsed || !admission) return undefined
  const { ref } = parsed
  if (ref === '+') {
    const isAdmin = await unlessRefused(access.authoriseAdmin(admission.credential).then(() => true))
    if (!isAdmin) return undefined
    connection.seesEveryThing = true
    return { filter }
  }
  const asking = access.authorise(ref, admission.credential, 'read refused writes')
  const thingId = await unlessRefused(asking)
  if (thingId === undefined) return undefined
  connection.spellings.set(thingId, ref)
  return { filter: withRef(filter, thingId), thingId }
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

/** The topic under which a client sees a message; undefined if it must not see it. */
export function topicFor(connection: Connection, topic: string): string | undefined {
  if (!isThingwireTopic(topic)) return topic
  const thingId = refOfThingTopic(topic)
  // A host may publish what it likes; what is written is read by this service alone.
  if (thingId === undefined || topic === writeTopic(thingId)) return undefined
  const spelling = connection.spellings.get(thingId)
  if (spelling !== undefined) return withRef(topic, spelling)
  return connection.seesEveryThing ? topic : undefined
}
