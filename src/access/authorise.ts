import { timingSafeEqual } from 'node:crypto'
import type { DocumentStore } from '../core/ports.ts'
import { activationCodeForm, hashToken, isThingId, isToken, tokenLength } from '../core/token.ts'
import { servedGrants, type TopicGrant } from '../core/topics/topic-grant.ts'
import { ThingwireError } from '../errors.ts'
import type { Access, Action, Principal, SessionPrincipal } from './access.ts'
import { type ThingDocument, thingName } from './documents.ts'
import { LookupCache } from './lookup-cache.ts'
import type { Tokens } from './tokens.ts'

const thingsInMemory = 100_000
/**
 * Maximum number of cached hashes of tokens. They are cached since hashing costs as much as the rest of an authorisation. Only
 * texts as long as a token are cached, since a header can contain any text of up to 16 KiB.
 */
const hashesInMemory = 1_000

interface AuthoriseParts {
  readonly documents: DocumentStore
  readonly tokens: Tokens
  readonly adminKey: string
  readonly allowThingDelete: boolean
  /** The filters of the server's `topics` option and of all sources. */
  readonly served: () => readonly string[]
}

interface Authorisation extends Omit<Access, 'noteSeen' | 'onRevoke' | 'onTopics' | 'redactor'> {
  forgetThing(thingId: string): void
  /** Call this when any thing may have been removed. */
  forgetThings(): void
}

export function createAuthorisation(parts: AuthoriseParts): Authorisation {
  const { documents, tokens, allowThingDelete } = parts
  const adminKeyHash = Buffer.from(hashToken(parts.adminKey))
  const hashOf = remembered(hashToken, hashesInMemory)
  const things = new LookupCache(async thingId => {
    return (await documents.get(thingName(thingId))) ? true : undefined
  }, thingsInMemory)

  return {
    authorise: (ref, credential, action) =>
      ofTokenInMemory(ref, credential, action) ?? authorise(ref, credential, action),

    async authoriseAdmin(credential) {
      const principal = await identify(credential)
      const why = `only the admin key may do this, but this is ${kindOf(principal)}`
      if (principal.kind !== 'admin') throw new ThingwireError('forbidden', why)
    },

    async authoriseSource(credential, sourceId) {
      if (sourceId !== undefined && !isThingId(sourceId))
        throw new ThingwireError('not_found', howSourceNamed)
      const principal = await identify(credential)
      const isMeant =
        sourceId === undefined || (principal.kind === 'source' && principal.sourceId === sourceId)
      if (principal.kind === 'source' && isMeant) return principal
      const why = `only the token of the source may do this, but this is ${kindOf(principal)}`
      throw new ThingwireError('forbidden', why)
    },

    async authoriseAgain(credentialHash, thingId, action) {
      await assertMay(await identifyHash(credentialHash), thingId, action)
    },

    topicsOf,

    identifyAgain: identifyHash,

    identify,
    thingOfToken,
    forgetThing: thingId => things.forget(thingId),
    forgetThings: () => things.forgetAll(),
  }

  function ofTokenInMemory(ref: string, credential: string | undefined, action: Action): string | undefined {
    // Checking the length is enough: only a real token is found in memory.
    const isOfThing = ref.length === tokenLength
    const token = isOfThing ? ref : credential
    if (token?.length !== tokenLength || !thingMay(action)) return undefined
    const principal = tokens.known(hashOf(token))
    if (principal?.kind !== 'thing') return undefined
    return isOfThing || principal.thingId === ref ? principal.thingId : undefined
  }

  async function authorise(ref: string, credential: string | undefined, action: Action): Promise<string> {
    if (isToken(ref)) {
      const thingId = await thingOfToken(ref)
      assertThingMay(action)
      return thingId
    }
    if (!isThingId(ref)) throw new ThingwireError('not_found', howNamed + spelledLike(ref))
    const principal = await identify(credential)
    await assertMay(principal, ref, action)
    return ref
  }

  async function thingOfToken(token: string): Promise<string> {
    const principal = isToken(token) ? await tokens.principalOf(hashOf(token)) : undefined
    if (principal?.kind === 'thing') return principal.thingId
    throw new ThingwireError('unknown_thing_token', `no thing has this token${whatElse(token, principal)}`)
  }

  /** Text to append to an error message: what a misplaced credential or id is, without quoting it. Empty if that is unknown. */
  function whatElse(text: string, principal?: Principal): string {
    const whose = isAdminKey(hashToken(text)) ? ({ kind: 'admin' } as const) : principal
    if (whose?.kind === 'source') return `: it is ${kindOf(whose)}, ${whereSourceGoes}`
    return whose ? `: it is ${kindOf(whose)}, ${whereItGoes}` : spelledLike(text)
  }

  /** The only place that knows every kind of credential. */
  async function identify(credential: string | undefined): Promise<Principal> {
    if (credential === undefined || credential === '') throw new ThingwireError('missing_credential')
    if (isToken(credential)) return await identifyHash(hashOf(credential))
    // A text of any other form can only be the admin key, which works even while the store is unavailable.
    if (isAdminKey(hashToken(credential))) return { kind: 'admin' }
    throw new ThingwireError('invalid_session', `the credential is unknown${whatElse(credential)}`)
  }

  async function topicsOf(principal: Principal): Promise<readonly TopicGrant[]> {
    const served = parts.served()
    if (served.length === 0) return []
    switch (principal.kind) {
      case 'admin':
        return grantsFor(served)
      case 'source':
        return grantsFor(principal.terms.topics)
      case 'session':
        return servedGrants(principal.topics ?? [], served)
      case 'thing': {
        const thing = (await documents.get(thingName(principal.thingId))) as ThingDocument | undefined
        return servedGrants(thing?.topics ?? [], served)
      }
    }
  }

  function isAdminKey(hash: string): boolean {
    return timingSafeEqual(Buffer.from(hash), adminKeyHash)
  }

  async function identifyHash(hash: string): Promise<Principal> {
    if (isAdminKey(hash)) return { kind: 'admin' }
    const principal = await tokens.principalOf(hash)
    if (!principal) throw new ThingwireError('invalid_session')
    return principal
  }

  async function assertMay(principal: Principal, thingId: string, action: Action): Promise<void> {
    if (!isFor(principal, thingId)) {
      const wanted = 'use the token of the thing, a session for it, or the admin key'
      throw new ThingwireError('forbidden', `${kindOf(principal)} is not for this thing: ${wanted}`)
    }
    if (principal.kind === 'thing') return assertThingMay(action)
    if (principal.kind === 'session') assertSessionMay(principal, action)
    if (!(await things.get(thingId))) throw new ThingwireError('unknown_thing')
  }

  function assertSessionMay(session: SessionPrincipal, action: Action): void {
    if (action === 'read') return
    if (action === 'mint a session') throw new ThingwireError('forbidden', whoMints)
    if (session.access !== 'write') {
      const another = '`thingwire sessions create --write` ("access":"write") makes one that may write'
      throw new ThingwireError('forbidden', `${kindOf(session)} may only read: ${another}`)
    }
    // A session minted by a thing may do no more than the thing itself.
    if (!session.isOperators) assertThingMay(action)
  }

  function assertThingMay(action: Action): void {
    const who =
      "the admin key and an operator's write session may, and a thing if the option allowThingDelete is set"
    if (!thingMay(action)) throw new ThingwireError('forbidden', `a thing may not remove records: ${who}`)
  }

  function thingMay(action: Action): boolean {
    return action !== 'delete' || allowThingDelete
  }
}

/** To read and write everything that the filters match. */
function grantsFor(filters: readonly string[]): readonly TopicGrant[] {
  return filters.flatMap(filter => [
    { filter, access: 'read' },
    { filter, access: 'write' },
  ])
}

/** Like `whatElse`, but checks only the form: `not_found` is not a counted failure, so its message must not confirm a guess. */
function spelledLike(text: string): string {
  if (isThingId(text)) return ': it is spelled like the id of a thing, which is public'
  const isCode = activationCodeForm.test(text)
  return isCode ? ': it is spelled like an activation code, which gives a token (POST /v2/things)' : ''
}

const howNamed = 'a thing is named by its token (43 characters) or its id (16 of a-z and 2-7)'
const whereItGoes =
  'which goes into the Authorization header or the MQTT password, with the id of the thing in the path or topic'

const howSourceNamed = 'a source is named by its token (43 characters) or its id (16 of a-z and 2-7)'
const whereSourceGoes = 'which goes into /v2/sources/<token> or the MQTT password'

/** The message of `forbidden` if the credential cannot mint a session for a thing. */
export const whoMints = 'only the token of the thing or the admin key can create a session for a thing'

function isFor(principal: Principal, thingId: string): boolean {
  if (principal.kind === 'source') return false
  if (principal.kind === 'thing') return principal.thingId === thingId
  return principal.kind === 'admin' || principal.things === '*' || principal.things.has(thingId)
}

function kindOf(principal: Principal): string {
  if (principal.kind === 'admin') return 'the admin key'
  if (principal.kind === 'source') return `the token of source ${principal.sourceId}`
  return principal.kind === 'session' ? `session ${principal.sessionId}` : 'the token of a thing'
}

/** Caches the results of a pure function. @param capacity maximum number of cached results; when it is reached, all are dropped */
export function remembered<Result>(
  compute: (text: string) => Result,
  capacity: number,
): (text: string) => Result {
  const results = new Map<string, Result>()
  return text => {
    const known = results.get(text)
    if (known !== undefined) return known
    if (results.size >= capacity) results.clear()
    const result = compute(text)
    results.set(text, result)
    return result
  }
}
