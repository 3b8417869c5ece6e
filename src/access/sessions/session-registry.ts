import { randomBytes } from 'node:crypto'
import type { Document, DocumentStore } from '../../core/ports.ts'
import { createToken, hashToken, isThingId } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'
import type { Access, AccessSessionRegistry, AccessSessionSummary, AccessSessionTerms } from '../access.ts'
import { whoMints } from '../authorise.ts'
import {
  type AccessSessionDocument,
  type AccessSessionEntry,
  type AccessSessionTokenDocument,
  accessSessionName,
  accessSessionPrefix,
  type ThingDocument,
  thingName,
  thingPrefix,
  tokenName,
} from '../documents.ts'
import type { AssertGrants } from '../grants.ts'
import { type Ended, endedWith } from '../revocation/ended.ts'
import { endOf, endSessions } from './end-sessions.ts'

/** Length of a day, seconds. */
const day = 24 * 3_600
/** Longest lifetime of a session minted by the operator or a thing, seconds; limited so that forgotten sessions end, too. */
const longest = { operator: 366 * day, thing: 30 * day }
const maximumThings = 1_000
const maximumOfThing = 100
/** Number of thing ids at which a page of the list ends. Limits the size of a page, since each session can have 1,000 ids. */
const thingsOfPage = 20_000
const sessionsAtOnce = 20

// Not 16 characters, since some session ids would then look like thing ids.
const sessionIdForm = /^[0-9a-f]{18}$/

interface AccessSessionRegistryParts {
  readonly documents: DocumentStore
  readonly assertGrants: AssertGrants
  readonly identify: Access['identify']
  /** Called when a session has durably ended. */
  readonly onEnd: (ended: Ended) => void
}

export function createAccessSessionRegistry(parts: AccessSessionRegistryParts): AccessSessionRegistry {
  const { documents, assertGrants, identify, onEnd } = parts
  return {
    async create(things, terms) {
      const lifetime = lifetimeOf(terms, longest.operator)
      const ids = things === '*' ? things : [...new Set(things)]
      const { access, topics = [] } = terms
      assertGrants(topics)
      if (ids !== '*' && !(ids.length === 0 && topics.length > 0)) assertThingIds(ids)
      const names = ids === '*' ? [] : ids.map(thingName)
      const session = newSession({ things: ids, access, ...(topics.length > 0 && { topics }) }, lifetime)
      // Refused if a thing does not exist: otherwise nobody would notice a mistyped id.
      await documents.transact(names, found => {
        const missing = names[found.indexOf(undefined)]
        if (missing !== undefined) {
          throw new ThingwireError('unknown_thing', `there is no thing ${missing.slice(thingPrefix.length)}`)
        }
        return { put: session.put, result: undefined, purpose: 'register' }
      })
      return session.minted
    },

    async createForThing(thingId, credential, terms) {
      const lifetime = lifetimeOf(terms, longest.thing)
      const principal = await identify(credential)
      const isOwn = principal.kind === 'thing' && principal.thingId === thingId
      if (principal.kind !== 'admin' && !isOwn) throw new ThingwireError('forbidden', whoMints)
      const mintedBy = principal.kind === 'thing' ? hashToken(credential) : undefined
      const { access } = terms
      const session = newSession(
        { things: [thingId], access, thingId, ...(mintedBy !== undefined && { isThings: true }) },
        lifetime,
      )
      const { sessionId, expiresAt } = session.minted
      const entry = { sessionId, hash: session.hash, expiresAt, ...(mintedBy !== undefined && { mintedBy }) }
      const over = await documents.transact([thingName(thingId)], ([document]) => {
        if (!document) throw new ThingwireError('unknown_thing')
        const thing = document as ThingDocument
        if (mintedBy !== undefined && !thing.tokens.some(({ hash }) => hash === mintedBy)) {
          throw new ThingwireError('unknown_thing_token')
        }
        const { live, over } = sorted(thing.sessions ?? [])
        if (live.length >= maximumOfThing) throw new ThingwireError('too_many_sessions')
        const put = {
          ...endOf(over),
          ...session.put,
          [thingName(thingId)]: { ...thing, sessions: [...live, entry] },
        }
        return { put, result: over, purpose: 'register' }
      })
      if (over.length > 0) onEnd(endedWith(over))
      return session.minted
    },

    async list({ limit, cursor }) {
      if (cursor !== undefined && !sessionIdForm.test(cursor)) throw new ThingwireError('invalid_cursor')
      const page: AccessSessionSummary[] = []
      let next = cursor
      for (let ids = 0; page.length < limit && ids < thingsOfPage; ) {
        const asked = Math.min(limit - page.length, sessionsAtOnce)
        const after = next === undefined ? {} : { after: accessSessionName(next) }
        const found = await documents.list(accessSessionPrefix, { ...after, limit: asked + 1 })
        for (const [name, document] of found.slice(0, asked)) {
          const session = summarise(name.slice(accessSessionPrefix.length), document as AccessSessionDocument)
          ids += session.things.length
          page.push(session)
        }
        next = found.length > asked ? page.at(-1)?.sessionId : undefined
        if (next === undefined) break
      }
      const sessions = page.filter(({ expiresAt }) => expiresAt > Date.now())
      return { sessions, ...(next !== undefined && { next }) }
    },

    async get(sessionId) {
      const name = accessSessionName(sessionId)
      const session = sessionIdForm.test(sessionId) ? await documents.get(name) : undefined
      const summary = session && summarise(sessionId, session as AccessSessionDocument)
      if (!summary || summary.expiresAt <= Date.now()) throw noSuchSession()
      return summary
    },

    async remove(sessionId) {
      const sessions = sessionIdForm.test(sessionId) ? await endSessions(documents, [sessionId]) : []
      if (sessions.length === 0) throw noSuchSession()
      onEnd(endedWith(sessions))
    },
  }
}

function sorted(entries: readonly AccessSessionEntry[]) {
  const now = Date.now()
  const live = entries.filter(({ expiresAt }) => expiresAt > now)
  return { live, over: entries.filter(({ expiresAt }) => expiresAt <= now) }
}

function newSession(kind: Omit<AccessSessionDocument, 'hash' | 'createdAt' | 'expiresAt'>, lifetime: number) {
  const sessionId = randomBytes(9).toString('hex')
  const sessionToken = createToken()
  const hash = hashToken(sessionToken)
  const createdAt = Date.now()
  const expiresAt = createdAt + lifetime
  const document: AccessSessionDocument = { ...kind, hash, createdAt, expiresAt }
  const token: AccessSessionTokenDocument = { sessionId }
  const put: Record<string, Document> = { [accessSessionName(sessionId)]: document, [tokenName(hash)]: token }
  return { hash, put, minted: { sessionToken, sessionId, expiresAt } }
}

function summarise(sessionId: string, session: AccessSessionDocument): AccessSessionSummary {
  const { things, access, topics, createdAt, expiresAt, isThings = false } = session
  return {
    sessionId,
    things,
    access,
    ...(topics && { topics }),
    createdAt,
    expiresAt,
    isOperators: !isThings,
  }
}

function noSuchSession(): ThingwireError {
  return new ThingwireError('not_found', 'there is no such session')
}

/** @returns the lifetime, milliseconds @throws ThingwireError invalid_body */
function lifetimeOf({ expiresIn = day }: AccessSessionTerms, longest: number): number {
  if (Number.isInteger(expiresIn) && expiresIn >= 1 && expiresIn <= longest) return expiresIn * 1_000
  const rule = `expiresIn must be a whole number of seconds from 1 to ${longest}`
  throw new ThingwireError('invalid_body', rule)
}

function assertThingIds(ids: readonly string[]): void {
  if (ids.length >= 1 && ids.length <= maximumThings && ids.every(isThingId)) return
  throw new ThingwireError('invalid_body', `things must be "*" or 1 to ${maximumThings} thing ids`)
}
