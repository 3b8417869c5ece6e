import type { Access, Action } from '../../access/access.ts'
import { isToken } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { AskedFilter } from '../packets/packet.ts'
import type { Subscription } from '../sessions/interest.ts'
import { parseThingFilter, refOfThingTopic, selectionOf, type ThingFilter, withRef } from '../topics.ts'
import { unlessRefused } from '../unless-refused.ts'

export interface Granted {
  readonly asked: AskedFilter
  readonly subscription: Omit<Subscription, 'from'>
  /** undefined if the filter is for several things */
  readonly thingId: string | undefined
}

interface GrantParts {
  readonly access: Access
  /** Called when a filter has an unknown token. */
  readonly onUnknown: (error: ThingwireError) => void
}

/**
 * Grants a filter (contract §7.3). If the client connected with a credential, that credential alone decides, and a token in the
 * filter only names the thing.
 *
 * @returns undefined if the filter is refused
 * @throws ThingwireError if the store is unavailable
 */
export async function grantFilter(
  connection: Connection,
  asked: AskedFilter,
  parts: GrantParts,
): Promise<Granted | undefined> {
  const parsed = parseThingFilter(asked.topic)
  if (!parsed || !connection.admission) return undefined
  const granted =
    parsed.ref === '+'
      ? await grantSeveral(connection, asked, parts.access)
      : await grantOne(connection, asked, parsed, parts)
  return granted && isOfNothing(granted.subscription) ? undefined : granted
}

async function grantOne(
  connection: Connection,
  asked: AskedFilter,
  { ref }: ThingFilter,
  { access, onUnknown }: GrantParts,
): Promise<Granted | undefined> {
  const { topic, qos, retainHandling } = asked
  const { principal, admission } = connection
  const credential = admission?.credential
  if (!principal) connection.tokens.relyOn(ref)
  const thingId = await thingOf(ref, access, onUnknown)
  const may = (action: Action) => {
    const asking = principal
      ? access.authorise(thingId ?? '', credential, action)
      : access.authorise(ref, undefined, action)
    return unlessRefused(asking)
  }
  if (thingId === undefined || (await may('read')) === undefined) return undefined
  const isReadOnly = (await may('read refused writes')) === undefined
  const subscription = {
    filter: withRef(topic, thingId),
    qos,
    ...(isReadOnly && { isReadOnly }),
    ...(retainHandling === 2 && { isNeverShown: true as const }),
    ...(isToken(ref) && { isSpelledAsToken: true }),
  }
  return { asked, subscription, thingId }
}

async function thingOf(
  ref: string,
  access: Access,
  onUnknown: GrantParts['onUnknown'],
): Promise<string | undefined> {
  if (!isToken(ref)) return ref
  return await unlessRefused(
    access.thingOfToken(ref).catch((error: unknown) => {
      if (error instanceof ThingwireError) onUnknown(error)
      throw error
    }),
  )
}

/** Grants a filter with `+` instead of a thing. */
async function grantSeveral(
  { admission }: Connection,
  asked: AskedFilter,
  access: Access,
): Promise<Granted | undefined> {
  const { topic: filter, qos, retainHandling } = asked
  const credential = admission?.credential
  const principal = credential === undefined ? undefined : await unlessRefused(access.identify(credential))
  if (principal?.kind !== 'session' && principal?.kind !== 'admin') return undefined
  const isSession = principal.kind === 'session'
  const subscription = {
    filter,
    qos,
    ...(isSession && principal.things !== '*' && { things: [...principal.things] }),
    ...(isSession && principal.access === 'read' && { isReadOnly: true }),
    ...(retainHandling === 2 && { isNeverShown: true as const }),
  }
  return { asked, subscription, thingId: undefined }
}

/** Whether the filter selects only refused writes although the client may not see refused writes. */
function isOfNothing({ filter, isReadOnly = false }: Omit<Subscription, 'from'>): boolean {
  const { values, whole, errors, date, limits } = selectionOf(filter)
  return isReadOnly && errors && !values && !whole && !date && !limits
}

/** Restores whether a resumed session names its thing by token or id. Tokens are not stored, so the current token is used. */
export function restoreAliases({ aliases, principal, admission, session }: Connection): void {
  const credential = admission?.credential
  // Only a client that connected as a thing has a token of that thing.
  if (principal?.kind !== 'thing' || credential === undefined) return
  for (const { filter, isSpelledAsToken } of session?.interests ?? []) {
    const thingId = parseThingFilter(filter)?.ref
    if (thingId === principal.thingId) aliases.set(thingId, isSpelledAsToken ? credential : thingId)
  }
}

/** A filter of an UNSUBSCRIBE, with the thing id instead of a token. */
export async function canonicalFilter(filter: string, access: Access): Promise<string> {
  const ref = refOfThingTopic(filter)
  if (ref === undefined || !isToken(ref)) return filter
  // An invalid token matches no subscription.
  return await access.thingOfToken(ref).then(
    thingId => withRef(filter, thingId),
    () => filter,
  )
}
