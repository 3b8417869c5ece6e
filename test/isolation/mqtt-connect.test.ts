import { expect } from 'vitest'
import { codeOf } from '../helpers/mqtt-client.ts'
import { credentialOf, spell, type Who, type Word } from './cast.ts'
import { connackIn, connectOver, expectNothingSeen, forgery, login, loginOf } from './clients.ts'
import { isolationTests, type Way, type World } from './world.ts'

const { mqtt } = isolationTests()

interface Connect {
  /** Default: nobody. */
  readonly as?: Who
  readonly username?: string
  readonly password?: string
  readonly clientId?: string
  /** Default true. */
  readonly clean?: boolean
  readonly will?: { readonly topic: string; readonly retain?: boolean }
}

type Rows<Row> = Readonly<Record<string, Row>>

/** CONNECTs with credentials that are none, not any more, or not in this place. */
connects(4, {
  'nonsense as password': 'nonsense',
  'an unknown token as password': 'unknown token',
  'a thing id as password': 'victim',
  'a thing id as username': { username: '<victim>' },
  'a thing id as username and password': { username: '<victim>', password: '<victim>' },
  'a token in upper case': 'victim token in upper case',
  'a token in lower case': 'victim token in lower case',
  'a token less its last character': 'victim token less its last',
  'a token and one character': 'victim token and A',
  'a token and padding': 'victim token and =',
  'a token and a blank': 'victim token and a blank',
  'a token that decodes to the same bytes': 'victim token with another end',
  'a token behind Bearer': 'Bearer of victim token',
  'the hash of a token': 'hash of victim token',
  'the hash of a token as username': { username: '<hash of victim token>' },
  'a prefix of a token as username': { username: '<victim token less its last>' },
  'a token in lower case as username': { username: '<victim token in lower case>' },
  'a session as username': { username: '<read session of victim>' },
  'a session as username, nonsense as password': { username: '<write session of all>', password: 'x' },
  'a session id as password': 'session id',
  'a token id as password': 'victim token id',
  'an activation code as password': 'fresh code',
  'an activation code as username': { username: '<fresh code>' },
  'the admin key less its last character': 'admin key less its last',
  'the admin key in upper case': 'admin key in upper case',
  'the hash of the admin key': 'hash of admin key',
  'admin without a password': { username: 'admin' },
  'anonymous without a password': { username: 'anonymous' },
  'a revoked token': 'revoked token',
  'a revoked token as username': { username: '<revoked token>' },
  'a token of a removed thing': 'token of removed',
  'a token of a removed thing as username': { username: '<token of removed>' },
  'a revoked session': 'revoked session',
  'an expired session': 'expired session',
  'an expired minted session': 'expired minted session',
  'a session that died with its token': 'session of revoked token',
  'a revoked session to its persistent state': { as: 'revoked session', clean: false },
  'a revoked token to its persistent state': { as: 'revoked token', clean: false, clientId: 'station' },
})
mqtt('CONNECT: an anonymous client to a persistent session', async (world, way) => {
  const client = await connectOver(world, way, { clean: false, clientId: 'station' })
  expect(client.connack.sessionPresent).toBe(false)
  if (way.protocolVersion === 5) {
    expect(client.connack).toMatchObject({ reasonCode: 0, properties: { sessionExpiryInterval: 0 } })
    return await client.disconnect()
  }
  expect(client.connack.returnCode).toBe(5)
  await client.untilClosed()
})

/** Wills: a write that would be made when nobody looks. */
wills('own token', {
  'a will on other topics of another': { will: { topic: 'house/victim/state', retain: true } },
  'a will above other topics': 'house',
  'a will of another thing': 'things/<victim>/write',
  'a retained will of another thing': { will: { topic: 'things/<victim>/write', retain: true } },
  'a will of another thing in a format': 'things/<victim>/write/value/forged',
  'a will of another thing on the old topic': 'v2/things/<victim>',
  'a will of another thing in a persistent session': {
    will: { topic: 'things/<victim>/write' },
    clean: false,
    clientId: 'w',
  },
  'a will on values of another thing': {
    will: { topic: 'things/<victim>/values/temperature', retain: true },
  },
  "a will on one's own values": { will: { topic: 'things/<own>/values/temperature', retain: true } },
  "a will on one's own errors": 'things/<own>/errors',
  'a will on errors of another thing': 'things/<victim>/errors',
  'a will up and over': 'things/<own>/../<victim>/write',
  'a will behind a leading slash': '/things/<victim>/write',
  'a will behind a doubled slash': 'things//<victim>/write',
  'a will before a trailing slash': 'things/<own>/write/',
  'a will in upper case': 'THINGS/<victim>/write',
  'a will on $SYS': '$SYS/broker/uptime',
  'a will on a shared topic': '$share/g/things/<victim>/write',
  'a will on a topic of nobody': 'hello/world',
  'a will on an activation': 'v2/activations/<fresh code>/x',
})
wills('own write session', {
  "a will of another thing's session": 'things/<victim>/write',
})
wills('own minted write session', {
  "a will of another thing's minted session": 'things/<victim>/write',
})
wills('read session of victim', {
  'a will of a read session': 'things/<victim>/write',
  'a will of a read session on the old topic': 'v2/things/<victim>',
})
wills('minted read session of victim', {
  'a will of a minted read session': 'things/<victim>/write',
})
wills('read session of all', {
  'a will of a read session of all': 'things/<victim>/write',
})
wills('nobody', {
  'a will of an anonymous client on an id in a format': 'things/<victim>/write/value/forged',
  'a will of an anonymous client on an id': 'things/<victim>/write',
  'a will of an anonymous client on an unknown token': 'things/<unknown token>/write',
  'a will of an anonymous client on a revoked token': 'things/<revoked token>/write',
  'a will of an anonymous client on the token of a removed thing': 'things/<token of removed>/write',
  'a will of an anonymous client on a session': 'things/<write session of victim>/write',
  'a will of an anonymous client on a token less its last': 'things/<victim token less its last>/write',
})
wills('write session of victim', {
  "a will on values of a session's thing": 'things/<victim>/values/temperature',
})

/** Client ids of the neighbour's clients, or as those are spelled inside the broker, by somebody else. */
takeovers('own token', {
  'a publisher by another thing': 'station',
  'a subscriber by another thing': 'display',
  'an anonymous client by another thing': 'sensor',
  "a session's client by another thing": 'dashboard',
  "the operator's client by another thing": 'console',
  'an id scoped to the victim': 'thing.<victim>:display',
  'an id scoped to the victim, percent-encoded': 'thing.<victim>%3Adisplay',
  'an id scoped to the victim with a slash': 'thing.<victim>/display',
  'an id scoped to the victim with a dot': 'thing.<victim>.display',
  'an id scoped to the victim behind its own scope': 'thing.<own>:thing.<victim>:display',
  'an id scoped to nobody': ':display',
  'an id up and over': '../thing.<victim>:display',
  'an id scoped to the operator': 'admin:console',
  'an id scoped to a session': 'session.<read session id of victim>:dashboard',
  'an id scoped to an anonymous client': 'anonymous.<victim>:sensor',
  'an id that is a wildcard': 'thing.+:#',
  'the thing id': '<victim>',
})
takeovers('own write session', {
  'a subscriber by a session': 'display',
  "a session's client by another session": 'dashboard',
  'an id scoped to the victim by a session': 'thing.<victim>:display',
  'an id scoped to a session by another': 'session.<read session id of victim>:dashboard',
})
takeovers('minted write session of victim', {
  "a thing's client by its own session": 'display',
  "a session's client by another of the same thing": 'dashboard',
  'an id scoped to a thing by its own session': 'thing.<victim>:display',
})
takeovers('write session of all', {
  "the operator's client by a session of all": 'console',
  'an id scoped to the operator by a session of all': 'admin:console',
})
takeovers('nobody', {
  'a publisher by an anonymous client': 'station',
  'an anonymous client by another': 'sensor',
  "the operator's client by an anonymous client": 'console',
  'an id scoped to the victim by an anonymous client': 'thing.<victim>:display',
  'an id scoped to an anonymous client by another': 'anonymous.<victim>:sensor',
  'an id scoped to the operator by an anonymous client': 'admin:console',
})

/** CONNECTs by name, of one return code of 3.1.1 (contract §7); a word alone is the password. */
function connects(connack: 4 | 5, rows: Rows<Word | Connect>): void {
  for (const [name, row] of Object.entries(rows)) {
    const trick = typeof row === 'string' ? { as: row } : row
    const run = (world: World, way: Way) => expectRefusal(world, way, name, connack, trick)
    mqtt(`CONNECT: ${name}`, run, { connack, ...trick })
  }
}

/** Wills by name, of one credential; a text alone is the topic. */
function wills(as: Who, rows: Rows<string | Connect>): void {
  for (const [name, row] of Object.entries(rows))
    connects(5, { [name]: { as, ...(typeof row === 'string' ? { will: { topic: row } } : row) } })
}

/** Client ids by name, of one credential: the CONNECT is let in. */
function takeovers(as: Who, rows: Rows<string>): void {
  for (const [name, clientId] of Object.entries(rows))
    mqtt(`CONNECT: ${name}`, (world, way) => takeOver(world, way, name, as, clientId), { as, clientId })
}

async function expectRefusal(
  world: World,
  way: Way,
  name: string,
  returnCode: 4 | 5,
  { as, username, password, clientId, clean = true, will }: Connect,
): Promise<void> {
  const { cast } = world
  const attacker = await connectOver(world, way, {
    ...{ clean, ...loginOf(credentialOf(cast, as)) },
    ...(username !== undefined && { username: spell(cast, username) }),
    ...(password !== undefined && { password: spell(cast, password) }),
    ...(clientId !== undefined && { clientId: spell(cast, clientId) }),
    ...(will && { will: { ...will, topic: spell(cast, will.topic), payload: forgery(name), qos: 1 } }),
  })
  expect(attacker.connack.sessionPresent).toBe(false)
  expect(codeOf(attacker.connack)).toBe(connackIn(way, returnCode))
  // The server ends it: without a word, so that a will would be sent.
  await attacker.untilClosed()
  expectNothingSeen(cast, attacker)
}

/** With a session that would be kept, if there is a credential, and then with one that would wipe what is kept. */
async function takeOver(world: World, way: Way, name: string, as: Who, spelled: string): Promise<void> {
  const { cast, neighbour } = world
  const clientId = spell(cast, spelled)
  for (const clean of as === 'nobody' ? [true] : [false, true]) {
    const attacker = await login(world, way, credentialOf(cast, as), { clientId, clean })
    expect(attacker.connack.sessionPresent).toBe(false)
    // An anonymous client is known by the token that it uses.
    await attacker.publish(spell(cast, 'things/<own token>/write'), forgery(name)).catch(() => {})
    await neighbour.probe()
    expectNothingSeen(cast, attacker)
    await attacker.destroy()
  }
}
