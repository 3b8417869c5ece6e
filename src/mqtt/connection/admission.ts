import { randomUUID } from 'node:crypto'
import type { ConnectPacket } from 'aedes'
import type { Access, Principal } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import type { Redactor } from '../../core/refusals/redactor.ts'
import { hashToken, isToken } from '../../core/token.ts'
import { isThingwireTopic, refOfWriteTopic } from '../topics.ts'
import { unlessRefused } from '../unless-refused.ts'
import type { UsedTokens } from './used-tokens.ts'

/** Bytes (contract §7). */
const maximumClientIdLength = 256
/** Every client id inside the broker begins like one of these, unless the client is the host's. */
const scopePattern = /^(thing\.[^:]*|session\.[^:]*|admin|anonymous\.[^:]*):/

/**
 * CONNACK return codes (MQTT-3.2.2-5, table 3.1): identifier rejected, unavailable, bad credentials, not authorized.
 */
export type ReturnCode = 2 | 3 | 4 | 5

/** A CONNECT that is answered with a return code. */
export class ConnectRefused extends Error {
  readonly returnCode: ReturnCode

  constructor(returnCode: ReturnCode, message: string) {
    super(message)
    this.name = 'ConnectRefused'
    this.returnCode = returnCode
  }
}

/** Is told whom a credential names. */
export interface Identified {
  /** Told each credential before it is asked for. */
  readonly tokens: Pick<UsedTokens, 'relyOn'>
  principal: Principal | undefined
}

/** Who has connected. */
export interface Admission {
  /** `host`: its credential is none of Thingwire's, and the broker is not ours alone. */
  readonly kind: 'principal' | 'anonymous' | 'host'
  /** What it presented, for a principal. Must not be kept longer than the connection. */
  readonly credential: string | undefined
  /** Client id inside the broker: scoped to the principal, free of secrets. */
  readonly clientId: string
  /** The client id as the client gave it, free of secrets. */
  readonly givenClientId: string
  /** The will if it is a write. */
  readonly will: ConnectWill | undefined
}

export interface ConnectWill {
  readonly thingId: string
  readonly credentialHash: string
  readonly body: Uint8Array
}

/**
 * Decides on a CONNECT (contract §7, connecting).
 *
 * @param ownsBroker whether a credential that is not ours is refused
 * @param connection is told each credential before it is asked for, and whom it names
 * @throws ConnectRefused
 * @throws ThingwireError of the store, if it is away
 */
export async function admit(
  packet: ConnectPacket,
  access: Access,
  ownsBroker: boolean,
  connection: Identified,
): Promise<Admission> {
  const credential = await identify(packet, access, connection)
  const { tokens } = connection
  if (credential === 'unknown' && ownsBroker) throw new ConnectRefused(4, 'the credential is unknown')
  const given = withoutSecret(packet.clientId ?? '', access.redactor)
  if (credential === 'unknown' || (credential === 'none' && !ownsBroker)) {
    // Nobody is to pose as a client of ours.
    if (scopePattern.test(packet.clientId)) throw new ConnectRefused(2, 'the client id is reserved')
    const will = await willOf(packet, undefined, access, tokens, true)
    return {
      kind: 'host',
      credential: undefined,
      clientId: packet.clientId,
      givenClientId: given,
      will,
    }
  }
  assertClientId(packet)
  if (credential === 'none') {
    if (!packet.clean) throw new ConnectRefused(5, 'a persistent session needs a credential')
    const will = await willOf(packet, undefined, access, tokens, false)
    const clientId = `anonymous.${randomUUID()}:${given}`
    return {
      kind: 'anonymous',
      credential: undefined,
      clientId,
      givenClientId: given,
      will,
    }
  }
  const { principal, secret } = credential
  const will = await willOf(packet, secret, access, tokens, false)
  // Of the thing, not the token: a thing keeps its session when its token is changed.
  const clientId = `${principalName(principal)}:${given === '' ? randomUUID() : given}`
  return { kind: 'principal', credential: secret, clientId, givenClientId: given, will }
}

/** Whom the credential of a CONNECT names, which the connection is told. @throws ThingwireError of the store, if it is away */
async function identify(
  packet: ConnectPacket,
  access: Access,
  connection: Identified,
): ReturnType<typeof credentialOf> {
  const credential = await credentialOf(packet, access, connection.tokens)
  if (typeof credential === 'object') connection.principal = credential.principal
  return credential
}

/** The password, if it is one; else the username, if that is a thing token. */
async function credentialOf(
  packet: ConnectPacket,
  access: Access,
  tokens: Pick<UsedTokens, 'relyOn'>,
): Promise<{ readonly principal: Principal; readonly secret: string } | 'none' | 'unknown'> {
  const username = packet.username ?? ''
  const password = packet.password?.toString() ?? ''
  if (username === '' && password === '') return 'none'
  tokens.relyOn(password)
  const principal = await unlessRefused(access.identify(password))
  if (principal) return { principal, secret: password }
  if (!isToken(username)) return 'unknown'
  tokens.relyOn(username)
  const thingId = await unlessRefused(access.thingOfToken(username))
  return thingId === undefined ? 'unknown' : { principal: { kind: 'thing', thingId }, secret: username }
}

/** Some devices use a token as client id; ids are seen in logs and by the broker's own topics. */
function withoutSecret(clientId: string, redactor: Redactor): string {
  return redactor.redact(clientId) === clientId ? clientId : hashToken(clientId)
}

function assertClientId({ clientId, clean }: ConnectPacket): void {
  if (Buffer.byteLength(clientId) > maximumClientIdLength) {
    throw new ConnectRefused(2, `the client id is longer than ${maximumClientIdLength} bytes`)
  }
  if (clientId === '' && !clean) throw new ConnectRefused(2, 'a persistent session needs a client id')
}

/**
 * A token in the topic of a will is a credential of its own, as in that of a PUBLISH.
 *
 * @param isHost whether a will on other topics is the host's affair
 */
async function willOf(
  { will }: ConnectPacket,
  credential: string | undefined,
  access: Access,
  tokens: Pick<UsedTokens, 'relyOn'>,
  isHost: boolean,
): Promise<ConnectWill | undefined> {
  if (!will || (isHost && !isThingwireTopic(will.topic))) return undefined
  const ref = refOfWriteTopic(will.topic)
  if (ref === undefined) throw new ConnectRefused(5, 'a will must be on a write topic')
  tokens.relyOn(ref)
  const thingId = await unlessRefused(access.authorise(ref, credential, 'write'))
  if (thingId === undefined) throw new ConnectRefused(5, 'the will is on a topic of another thing')
  const credentialHash = hashToken(isToken(ref) ? ref : (credential ?? ''))
  return { thingId, credentialHash, body: Buffer.from(will.payload) }
}
