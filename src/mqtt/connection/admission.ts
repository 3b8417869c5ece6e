import { randomUUID } from 'node:crypto'
import type { ConnectPacket } from 'aedes'
import type { Access, Principal } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import type { Redactor } from '../../core/refusals/redactor.ts'
import { hashToken, isToken } from '../../core/token.ts'
import { hasForbiddenCharacter } from '../../core/topics/topic-filter.ts'
import { mayWrite } from '../../core/topics/topic-grant.ts'
import { ThingwireError } from '../../errors.ts'
import { ConnectRefused } from '../packets/outcomes.ts'
import type { ClientKind, Connect, Properties } from '../packets/packet.ts'
import { writeOptionsIn } from '../packets/write-options.ts'
import { longestExpiry } from '../sessions/session-documents.ts'
import { forbiddenCharacter, shownTopic } from '../shown-topic.ts'
import { isThingwireTopic, refOfWriteTopic, writeAddressOf } from '../topics.ts'
import { orRefusal, unlessRefused } from '../unless-refused.ts'
import type { WillContent } from '../wills/will-documents.ts'
import type { UsedTokens } from './used-tokens.ts'

/** Maximum length of a client id, bytes (contract §7). */
const maximumClientIdLength = 256
/** Prefix of the client ids that Thingwire's clients have inside the broker. */
const scopePattern = /^(thing\.[^:]*|session\.[^:]*|source\.[^:]*|admin|anonymous\.[^:]*):/

/** The part of a connection that `admit` fills in. */
interface Identified {
  /** `relyOn` is called with each credential before the credential is looked up. */
  readonly tokens: Pick<UsedTokens, 'relyOn' | 'strikeOut'>
  principal: Principal | undefined
  readonly asked: Connect | undefined
}

export interface Admission {
  readonly kind: ClientKind
  /** The secret of a principal. Do not keep it after the connection has ended. */
  readonly credential: string | undefined
  /** Client id inside the broker: prefixed with the principal's name, without secrets. */
  readonly clientId: string
  /** The id that the client sent, without secrets. */
  readonly givenClientId: string
  /** A random id, if the client sent none. */
  readonly assignedClientId: string | undefined
  /** The will: a write, or a message on another topic that the client may publish on. */
  readonly will: WillContent | undefined
}

/**
 * Decides whether to accept a CONNECT (contract §7.1).
 *
 * @param ownsBroker whether the broker serves only Thingwire's clients, so that an unknown credential is refused
 * @param connection receives each credential before the credential is looked up, and finally the principal
 * @throws ConnectRefused
 * @throws ThingwireError if the store fails
 */
export async function admit(
  packet: ConnectPacket,
  access: Access,
  ownsBroker: boolean,
  connection: Identified,
): Promise<Admission> {
  const credential = await credentialOf(packet, access, connection)
  if (credential === 'unknown' && ownsBroker)
    throw new ConnectRefused('bad_credential', 'the credential is unknown')
  const known = typeof credential === 'object' ? credential : undefined
  const kind = known ? 'principal' : ownsBroker ? 'anonymous' : 'host'
  assertClientId(packet, kind)
  const refusal = connection.asked?.refusal(kind)
  if (refusal) throw refusal
  const givenClientId = withoutSecret(packet.clientId ?? '', access.redactor)
  const assignedClientId = givenClientId === '' ? randomUUID() : undefined
  const id = assignedClientId ?? givenClientId
  return {
    kind,
    credential: known?.secret,
    clientId: kind === 'host' ? packet.clientId : scopedId(known?.principal, id),
    givenClientId,
    assignedClientId,
    will: await willOf(packet, known, access, connection, kind),
  }
}

/** @param principal undefined if the client is anonymous */
function scopedId(principal: Principal | undefined, clientId: string): string {
  if (!principal) return `anonymous.${randomUUID()}:${clientId}`
  // The prefix contains the thing id, not the token, so a thing keeps its session when its token is rotated.
  return `${principalName(principal)}:${clientId}`
}

interface Known {
  readonly principal: Principal
  readonly secret: string
}

/** Tries the password as a credential, then the username as the token of a thing or source. @throws ThingwireError if the store is unavailable */
async function credentialOf(
  packet: ConnectPacket,
  access: Access,
  connection: Identified,
): Promise<Known | 'none' | 'unknown'> {
  const username = packet.username ?? ''
  const password = packet.password?.toString() ?? ''
  if (username === '' && password === '') return 'none'
  connection.tokens.relyOn(password)
  connection.principal = await unlessRefused(access.identify(password))
  if (connection.principal) return { principal: connection.principal, secret: password }
  if (!isToken(username)) return 'unknown'
  connection.tokens.relyOn(username)
  const named = await unlessRefused(access.identify(username))
  if (named?.kind !== 'thing' && named?.kind !== 'source') return 'unknown'
  connection.principal = named
  return { principal: connection.principal, secret: username }
}

/** Hashes a client id that contains a secret, for example a thing's token: logs and topics of the broker show client ids. */
function withoutSecret(clientId: string, redactor: Redactor): string {
  return redactor.redact(clientId) === clientId ? clientId : hashToken(clientId)
}

function assertClientId({ clientId }: ConnectPacket, kind: ClientKind): void {
  if (kind === 'host') {
    // A client of the host must not pose as a client of Thingwire.
    if (scopePattern.test(clientId)) throw new ConnectRefused('client_id', 'the client id is reserved')
    return
  }
  if (Buffer.byteLength(clientId) > maximumClientIdLength) {
    throw new ConnectRefused('client_id', `the client id is longer than ${maximumClientIdLength} bytes`)
  }
}

/**
 * The will: on another topic that the client may publish on, or on a write topic, where a token is a credential, as in a PUBLISH.
 * Undefined if there is none or the host handles it.
 */
async function willOf(
  { will }: ConnectPacket,
  known: Known | undefined,
  access: Access,
  { tokens, asked }: Pick<Identified, 'tokens' | 'asked'>,
  kind: ClientKind,
): Promise<WillContent | undefined> {
  if (!will || (kind === 'host' && !isThingwireTopic(will.topic))) return undefined
  const { topic, qos = 0, retain } = will
  const { willProperties = {}, sessionExpiry = 0 } = asked ?? {}
  // A will waits no longer than until its session ends (MQTT5-3.1.3.2.2).
  const delay = Math.min(willProperties.willDelay ?? 0, sessionExpiry, longestExpiry)
  const kept = { body: Buffer.from(will.payload).toString('base64'), ...(delay > 0 && { delay }) }
  if (known && !isThingwireTopic(topic) && mayWrite(await access.topicsOf(known.principal), topic)) {
    const message = { topic, qos, isRetained: retain === true, ...carriedByWill(willProperties) }
    return { message, credentialHash: hashToken(known.secret), ...kept }
  }
  const ref = refOfWriteTopic(topic)
  if (ref === undefined) {
    const shown = shownTopic(topic, access.redactor)
    throw new ConnectRefused('will', willElsewhere(topic, shown), willElsewhere(topic))
  }
  tokens.relyOn(ref)
  const thingId = await orRefusal(access.authorise(ref, known?.secret, 'write'))
  if (thingId instanceof ThingwireError) {
    const text = (shown = 'a topic') =>
      `the will is on ${shown}, on which the client may not write (${thingId.message})`
    throw new ConnectRefused('will', text(shownTopic(topic, access.redactor)), text())
  }
  const credentialHash = hashToken(isToken(ref) ? ref : (known?.secret ?? ''))
  const options = asked?.willProperties && optionsOfWill(willProperties, tokens)
  const format = writeAddressOf(tokens.strikeOut(topic))?.format
  return { thingId, credentialHash, ...kept, ...(format && { format }), ...options }
}

/** As of a write, which is refused when it is written. The store keeps them, so they must not hold tokens. */
function optionsOfWill(properties: Properties, tokens: Identified['tokens']) {
  try {
    const { id, ...flags } = writeOptionsIn(properties)
    return { options: { ...flags, id: id && tokens.strikeOut(id) } }
  } catch (error) {
    if (!(error instanceof ThingwireError)) throw error
    return { refusal: error.reason }
  }
}

function carriedByWill({ carried: bytes, messageExpiry: expiry }: Properties) {
  const carried = bytes?.toString('base64')
  return { ...(carried !== undefined && { properties: carried }), ...(expiry !== undefined && { expiry }) }
}

function willElsewhere(topic: string, shown = 'a topic'): string {
  if (hasForbiddenCharacter(topic)) return `the will is on ${shown}: ${forbiddenCharacter}`
  return `the will is on ${shown}, which is neither the write topic of the client's thing nor another topic on which the client may publish`
}
