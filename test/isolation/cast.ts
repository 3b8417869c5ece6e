import { hashToken } from '../../src/core/token.ts'
import type { TopicGrant } from '../../src/core/topics/topic-grant.ts'
import { ask, createThing, type ServerAddress, type Session, type Thing } from '../helpers/http-client.ts'

interface SessionBody {
  readonly access: 'read' | 'write'
  readonly expiresIn?: number
  readonly topics?: readonly TopicGrant[]
}

/** Read on every source's topics: `estate/<name>/<device>/<key>`. */
const levels = { formats: ['levels'], pattern: 'estate/+/{device}/{key}' }

export interface Source {
  readonly sourceId: string
  readonly sourceToken: string
}

/** What the operator, and a thing itself, do over HTTP (contract §6); every request must succeed. */
export function operatorOf(server: ServerAddress) {
  const admin = <Answer = void>(method: string, path: string, body?: object) =>
    ask<Answer>(server, method, `/v2/admin/${path}`, body)
  const tokensOf = ({ thingId }: Thing) => `things/${thingId}/tokens`
  return {
    adminKey: server.adminKey,
    createThing: () => createThing(server),
    setTopics: ({ thingId }: Thing, topics: readonly TopicGrant[]) =>
      admin('PATCH', `things/${thingId}`, { topics }),
    removeThing: ({ thingId }: Thing) => admin('DELETE', `things/${thingId}`),
    addToken: (thing: Thing) => admin<{ thingToken: string; tokenId: string }>('POST', tokensOf(thing), {}),
    firstTokenId: async (thing: Thing) => {
      const { tokens } = await admin<{ tokens: readonly { tokenId: string }[] }>('GET', tokensOf(thing))
      return tokens[0]?.tokenId ?? ''
    },
    removeToken: (thing: Thing, tokenId: string) => admin('DELETE', `${tokensOf(thing)}/${tokenId}`),
    createSession: (body: SessionBody & { things: '*' | readonly string[] }) =>
      admin<Session>('POST', 'sessions', body),
    createSource: (name: string, topics: readonly string[], overlap = false) =>
      admin<Source>('POST', 'sources', { name, topics, overlap, ...levels }),
    changeSource: ({ sourceId }: Source, change: object) => admin('PATCH', `sources/${sourceId}`, change),
    removeSource: ({ sourceId }: Source) => admin('DELETE', `sources/${sourceId}`),
    removeSession: (sessionId: string) => admin('DELETE', `sessions/${sessionId}`),
    mint: ({ thingToken }: Thing, body: SessionBody) =>
      ask<Session>(server, 'POST', `/v2/things/${thingToken}/sessions`, body),
    createActivationCodes: async (count: number) =>
      (await admin<{ activationCodes: readonly string[] }>('POST', 'activation-codes', { count }))
        .activationCodes,
    removeActivationCode: (code: string) => admin('DELETE', `activation-codes/${code}`),
    activate: (activationCode: string) => ask<Thing>(server, 'POST', '/v2/things', { activationCode }),
    use: ({ thingToken }: Thing) =>
      ask(server, 'POST', `/v2/things/${thingToken}`, { values: [{ key: 'used', value: true }] }),
  }
}

export type Operator = ReturnType<typeof operatorOf>

/** In every value and every refused body of the victim; who should not see the victim must not see this. */
export const victimsMark = 'of the victim'

/**
 * Who takes part in the tricks: the victim, whose thing nobody else may touch; the attacker, who has a thing of his own
 * and sessions of all kinds; and credentials that are dead.
 */
export type Cast = Awaited<ReturnType<typeof castOf>>

export type Word = keyof Awaited<ReturnType<typeof wordsOf>>

/** Whose credential is presented: `Authorization: Bearer`, the password. `nobody`: none. */
export type Who = Word | 'nobody'

/** `words`: what each `<word>` of the tables stands for, so that no secret gets into one: `things/<victim>/write`. */
export async function castOf(operator: Operator) {
  const [victim, own] = [await operator.createThing(), await operator.createThing()]
  await operator.setTopics(victim, topicsOf('victim'))
  await operator.setTopics(own, topicsOf('own'))
  return { victim, own, words: await wordsOf(operator, victim, own) }
}

/** Topics beside those of things: everything below `house/<name>`. */
function topicsOf(name: string): readonly TopicGrant[] {
  return readAndWrite(`house/${name}/#`)
}

export function readAndWrite(filter: string): readonly TopicGrant[] {
  return [
    { filter, access: 'read' },
    { filter, access: 'write' },
  ]
}

/** What is presented as a credential; undefined: nothing. */
export function credentialOf({ words }: Cast, as: Who = 'nobody'): string | undefined {
  return as === 'nobody' ? undefined : words[as]
}

/** Puts what the words stand for in their places. @throws Error for a word that is not in the cast */
export function spell({ words }: Cast, text: string): string {
  return text.replace(/<([^<>]+)>/g, (_, word: string) => {
    const meaning = (words as Readonly<Record<string, string>>)[word]
    if (meaning === undefined) throw new Error(`the cast has no word <${word}>`)
    return meaning
  })
}

async function wordsOf(operator: Operator, victim: Thing, own: Thing) {
  return {
    ...identities(victim, own),
    ...nearMisses(victim, operator.adminKey),
    ...(await livingSessions(operator, victim, own)),
    ...(await deadCredentials(operator, own)),
    ...(await deadSessions(operator, victim, own)),
    ...(await activationCodes(operator)),
    ...(await sources(operator)),
    ...(await names(operator, victim)),
  }
}

function identities(victim: Thing, own: Thing) {
  return {
    victim: victim.thingId,
    own: own.thingId,
    'own token': own.thingToken,
    'unknown id': 'aaaaaaaaaaaaaaaa',
    'unknown token': 'A'.repeat(43),
    nonsense: 'nonsense',
  }
}

/** What comes close to a secret of the victim or the operator, and is none. */
function nearMisses({ thingId, thingToken }: Thing, adminKey: string) {
  const percentEncoded = (text: string) =>
    Array.from(text, character => `%${character.charCodeAt(0).toString(16)}`).join('')
  return {
    'victim in upper case': thingId.toUpperCase(),
    'victim less its last': thingId.slice(0, -1),
    'victim and a': `${thingId}a`,
    'victim percent-encoded': percentEncoded(thingId),
    'victim token in upper case': thingToken.toUpperCase(),
    'victim token in lower case': thingToken.toLowerCase(),
    'victim token less its last': thingToken.slice(0, -1),
    'victim token and A': `${thingToken}A`,
    'victim token and =': `${thingToken}=`,
    'victim token with another end': withOtherEnd(thingToken),
    'victim token backwards': [...thingToken].reverse().join(''),
    'hash of victim token': hashToken(thingToken),
    'Bearer of victim token': `Bearer ${thingToken}`,
    'victim token and a blank': `${thingToken} `,
    'admin key in upper case': adminKey.toUpperCase(),
    'admin key less its last': adminKey.slice(0, -1),
    'admin key and A': `${adminKey}A`,
    'admin key as Basic': Buffer.from(`admin:${adminKey}`).toString('base64'),
    'hash of admin key': hashToken(adminKey),
  }
}

/** The last character of 43 has two bits that mean nothing: a lenient decoder takes both spellings for one. */
function withOtherEnd(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, -1) + (alphabet[alphabet.indexOf(token.slice(-1)) ^ 1] ?? '')
}

async function livingSessions(operator: Operator, victim: Thing, own: Thing) {
  const session = async (things: '*' | readonly string[], access: 'read' | 'write') =>
    (await operator.createSession({ things, access })).sessionToken
  const onTopics = async (topics: readonly TopicGrant[]) =>
    (await operator.createSession({ things: [], access: 'read', topics })).sessionToken
  const readSession = await operator.createSession({ things: [victim.thingId], access: 'read' })
  return {
    'read session of victim': readSession.sessionToken,
    'read session id of victim': readSession.sessionId,
    'write session of victim': await session([victim.thingId], 'write'),
    'minted write session of victim': (await operator.mint(victim, { access: 'write' })).sessionToken,
    'minted read session of victim': (await operator.mint(victim, { access: 'read' })).sessionToken,
    'own read session': await session([own.thingId], 'read'),
    'own write session': await session([own.thingId], 'write'),
    'own minted write session': (await operator.mint(own, { access: 'write' })).sessionToken,
    'read session of all': await session('*', 'read'),
    'topic session': await onTopics(topicsOf('own')),
    'topic reader': await onTopics(topicsOf('own').slice(0, 1)),
    'topic writer': await onTopics(topicsOf('victim').slice(1)),
    'write session of all': await session('*', 'write'),
  }
}

/** Of the attacker's own thing and of one that is gone: the worst that somebody could have kept. */
async function deadCredentials(operator: Operator, own: Thing) {
  const token = await operator.addToken(own)
  const minted = await operator.mint({ ...own, thingToken: token.thingToken }, { access: 'write' })
  await operator.removeToken(own, token.tokenId)
  const removed = await operator.createThing()
  const session = await operator.createSession({ things: [removed.thingId], access: 'write' })
  await operator.removeThing(removed)
  return {
    'revoked token': token.thingToken,
    'session of revoked token': minted.sessionToken,
    removed: removed.thingId,
    'token of removed': removed.thingToken,
    'session of removed': session.sessionToken,
  }
}

/** Sessions that would have allowed all that is tried with them. */
async function deadSessions(operator: Operator, victim: Thing, own: Thing) {
  const things = [victim.thingId, own.thingId]
  const revoked = await operator.createSession({ things, access: 'write' })
  await operator.removeSession(revoked.sessionId)
  const expired = await operator.createSession({ things, access: 'write', expiresIn: 1 })
  const mintedExpired = await operator.mint(victim, { access: 'write', expiresIn: 1 })
  const end = Date.parse(mintedExpired.expiresAt)
  await new Promise(resolve => setTimeout(resolve, end - Date.now() + 50))
  return {
    'revoked session': revoked.sessionToken,
    'expired session': expired.sessionToken,
    'expired minted session': mintedExpired.sessionToken,
  }
}

async function activationCodes(operator: Operator) {
  const [spent = '', removed = '', fresh = ''] = await operator.createActivationCodes(3)
  const first = await operator.activate(spent)
  await operator.use(first)
  await operator.removeActivationCode(removed)
  return {
    'spent code': spent,
    'removed code': removed,
    'guessed code': 'A'.repeat(34),
    'fresh code': fresh,
    'fresh code in upper case': fresh.toUpperCase(),
    'fresh code less its last': fresh.slice(0, -1),
  }
}

/** Of the attacker; of the victim, whose topics lie apart; and one of the attacker that shares topics with his first. */
async function sources(operator: Operator) {
  const own = await operator.createSource('own', ['estate/own/#'])
  const victims = await operator.createSource('victim', ['estate/victim/#'])
  const overlapping = await operator.createSource('overlapping', ['estate/own/shared/#'], true)
  const removed = await operator.createSource('removed', ['estate/removed/#'])
  await operator.removeSource(removed)
  return {
    'own source': own.sourceId,
    'source token': own.sourceToken,
    'overlapping source token': overlapping.sourceToken,
    'victim source': victims.sourceId,
    'removed source token': removed.sourceToken,
  }
}

/** Public names of things that are secret. */
async function names(operator: Operator, victim: Thing) {
  const { sessionId } = await operator.createSession({ things: '*', access: 'write' })
  return { 'session id': sessionId, 'victim token id': await operator.firstTokenId(victim) }
}
