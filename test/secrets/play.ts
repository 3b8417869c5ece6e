import { describe, expect, it } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn, type MqttAddress } from '../helpers/mqtt-client.ts'
import { nodesOfTest, serverOfTest } from '../helpers/of-test.ts'
import type { Exit, ServerProcess } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type Cast, createCast } from './cast.ts'
import { addDataFiles, addRedis, addStore } from './data-files.ts'
import { Evidence } from './evidence.ts'
import { Operator } from './operator.ts'
import { callWitnesses, type Witnesses } from './witnesses.ts'

/** A client that puts a secret into every place of a door. */
export interface Playing {
  readonly server: ServerProcess
  readonly secret: string
  /** As which it gets past its credential. */
  readonly player: { readonly thingId: string; readonly token: string }
  /** Takes down what was answered: it must not hold the secret, though it is told to its owner. */
  take(name: string, telling: Promise<string | Buffer>): Promise<void>
}

export interface DoorPlay {
  play(playing: Playing): Promise<void>
  /** What the errors of the player must then hold, beside `[redacted]`. */
  readonly refused?: readonly string[]
  /** What must have been answered to who has a secret. */
  readonly answered?: readonly string[]
}

const settings = {
  args: ['--log-level', 'trace'],
  environment: {
    THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
    // Wills of a killed server are written while the next one runs.
    THINGWIRE_WILL_GRACE: '100',
    THINGWIRE_TOPICS: 'house/#',
  },
}

/** Tests that nobody is told a secret, and none is kept, whatever is done with it at a door. */
export function keepsSecrets(where: string, door: DoorPlay): void {
  describe(`a server with secrets ${where}`, () => {
    it('tells nobody a secret, and keeps none, whatever is done with it', async () => {
      const dataDir = await temporaryDirectory()
      const evidence = new Evidence()
      const first = await serverOfTest({ dataDir, ...settings })
      evidence.addSecret('admin key', first.adminKey)
      const cast = await playFirst(first, evidence, door)
      takeDownOutput(evidence, await first.exited)
      await addDataFiles(evidence, dataDir)

      const second = await serverOfTest({ dataDir, ...settings })
      await playSecond(second, evidence, door, cast)
      const exit = await second.exited
      takeDownOutput(evidence, exit)
      const mode = await addDataFiles(evidence, dataDir)
      await addStore(evidence, dataDir)

      expect(exit.code).toBe(0)
      expect(mode).toBe(0o600)
      const { thingId } = cast.player
      assertSeen(evidence, thingId, door, {
        'a backup': [thingId, ...keptOfTopics],
        'the store': [thingId],
        'a data file': [thingId],
      })
      expect(evidence.leaks()).toEqual([])
    })
  })

  describe(`two nodes on Redis with secrets ${where}`, () => {
    it('tell nobody a secret, and keep none', async () => {
      const evidence = new Evidence()
      const { redis, adminKey, node } = await nodesOfTest(2, settings)
      evidence.addSecret('admin key', adminKey)
      const endRedis = await addRedis(evidence, redis)
      const { player } = await playOnNodes(node(0), node(1), evidence, door)
      await endRedis()
      for (const { exited } of [node(0), node(1)]) takeDownOutput(evidence, await exited)
      assertSeen(evidence, player.thingId, door, {
        'a file of Redis': [player.thingId, ...keptOfTopics],
        'a message between nodes': ['house/player/state'],
      })
      expect(evidence.leaks()).toEqual([])
    })
  })

  describe(`a server with an admin key of the operator ${where}`, () => {
    it.each([
      ['like a hash', '9e107d9d372bb6826bd81d3542a419d6'],
      ['of words', 'correct.horse/battery.staple!lamp'],
    ])('tells it nobody, and keeps it nowhere, if it is %s', async (_, adminKey) => {
      const dataDir = await temporaryDirectory()
      const evidence = new Evidence()
      const environment = { ...settings.environment, THINGWIRE_ADMIN_KEY: adminKey }
      const server = await serverOfTest({ dataDir, args: settings.args, environment })
      evidence.addSecret('admin key', adminKey)
      const operator = new Operator(server, evidence)
      const thing = await operator.mint<Thing>('token', '/v2/admin/things')
      await playPlaces(server, evidence, door, adminKey, thing)
      await operator.lookAtAll(thing)
      takeDownOutput(evidence, await server.stop())
      await addStore(evidence, dataDir)
      expect(evidence.holds('told', `the answer to GET /v2/things/`, '[redacted]')).toBe(true)
      expect(evidence.leaks()).toEqual([])
    })
  })
}

/** How the names begin of what is kept of topics beside those of things. */
const keptOfTopics = ['topic-sessions/', 'topic-queue/', 'topic-retained/', 'mqtt-wills/']

/** Evidence without these would prove nothing. @param kept texts by where they are on disk */
function assertSeen(
  evidence: Evidence,
  thingId: string,
  { refused = [], answered: toPlayer = [] }: DoorPlay,
  kept: Readonly<Record<string, readonly string[]>>,
): void {
  const told = ['operator', 'dashboard', 'app', 'writer'].map(name => [`a topic to the ${name}`, thingId])
  const streamed = ['app', 'dashboard', 'player', 'writer'].map(name => [`a stream to the ${name}`, '"mark"'])
  const answered = [
    [`the answer to GET /v2/things/${thingId}/errors`, '[redacted]'],
    ['a message to the operator', '[redacted]'],
    ['stderr', '[redacted]'],
    ...['operator', 'dashboard'].map(name => [`a topic to the ${name}`, 'house/player/state']),
    ['properties of a message to the operator', 'unit none'],
    ...toPlayer.map(text => ['what was answered to who has a secret', text]),
    ...refused.map(text => [`the answer to GET /v2/things/${thingId}/errors`, text]),
    ['stdout', 'Thingwire is ready'],
  ]
  const files = Object.entries(kept).flatMap(([where, texts]) => texts.map(text => [where, text]))
  const unseen = (kind: 'told' | 'files', wanted: string[][]) =>
    wanted.filter(([where = '', text = '']) => !evidence.holds(kind, where, text))
  expect(unseen('told', [...told, ...streamed, ...answered])).toEqual([])
  expect(unseen('files', files)).toEqual([])
}

function takeDownOutput(evidence: Evidence, { stdout, stderr }: Exit): void {
  evidence.add('told', 'stdout', stdout)
  evidence.add('told', 'stderr', stderr)
}

async function playPlaces(
  server: ServerProcess,
  evidence: Evidence,
  { play }: DoorPlay,
  secret: string,
  { thingId, thingToken: token }: Thing,
): Promise<void> {
  const take = async (name: string, telling: Promise<string | Buffer>) => {
    const told = await telling.catch((cause: unknown) => {
      throw new Error(`a secret ${name} was not played to the end`, { cause })
    })
    evidence.add('told', `what was answered to who has a secret ${name}`, told)
  }
  await play({ server, secret, player: { thingId, token }, take })
}

const everything = ['things/+/#', 'v2/things/+', 'house/player/#']

/** Uses every secret in every way, and ends the server when most of that is still open. */
async function playFirst(server: ServerProcess, evidence: Evidence, door: DoorPlay): Promise<Cast> {
  const operator = new Operator(server, evidence)
  const cast = await createCast(server, operator, evidence)
  const witnesses = await watch(server, evidence, cast)
  const { player, secrets, things } = cast
  for (const secret of Object.values(secrets)) {
    await playPlaces(server, evidence, door, secret, player)
    await operator.giveWrongTopics(secret, player)
    await operator.lookAtAll(...things)
  }
  await talk(server, cast, 'first')
  await operator.lookAtAll(...things)
  await witnesses.untilMarked(player, 'first')
  await witnesses.end()
  await leaveOpen(server, player)
  await operator.backUp()
  await server.kill()
  return cast
}

/** What the first server left behind comes back, and is left behind again by one that is stopped. */
async function playSecond(
  server: ServerProcess,
  evidence: Evidence,
  door: DoorPlay,
  cast: Cast,
): Promise<void> {
  const operator = new Operator(server, evidence)
  const { player, secrets, things } = cast
  await operator.backUp()
  const witnesses = await watch(server, evidence, cast)
  await witnesses.untilTold('operator', lastWill)
  await witnesses.untilTold('operator', lastMessage)
  for (const secret of Object.values(secrets).slice(0, 2)) {
    await playPlaces(server, evidence, door, secret, player)
  }
  await talk(server, cast, 'second')
  await operator.lookAtAll(...things)
  await leaveOpen(server, player)
  await witnesses.untilMarked(player, 'second')
  await operator.backUp()
  await server.stop()
  await witnesses.end()
}

/** On two nodes of one store: the secrets are used at one, and witnesses are at the other. */
async function playOnNodes(
  here: ServerProcess,
  there: ServerProcess,
  evidence: Evidence,
  door: DoorPlay,
): Promise<Cast> {
  const operator = new Operator(here, evidence)
  const cast = await createCast(here, operator, evidence)
  const { player, secrets, things } = cast
  const witnesses = await watch(there, evidence, cast)
  const some = ['the token of the player', 'a session of a thing'].map(name => secrets[name] ?? '')
  for (const secret of some) await playPlaces(here, evidence, door, secret, player)
  await talk(here, cast, 'first')
  for (const server of [here, there]) {
    await new Operator(server, evidence).lookAtAll(...things)
  }
  await leaveOpen(here, player)
  await witnesses.untilMarked(player, 'first')
  await here.kill()
  await witnesses.end()
  await there.stop()
  return cast
}

async function watch(server: ServerProcess, evidence: Evidence, cast: Cast): Promise<Witnesses> {
  const { player, neighbour, dashboard, app, writer } = cast
  const witnesses = callWitnesses(server, evidence)
  const ofPlayer = [`things/${player.thingId}/#`, `v2/things/${player.thingId}`]
  await witnesses.watch('operator', server.adminKey, everything, false)
  await witnesses.watch('dashboard', dashboard.sessionToken, everything)
  await witnesses.watch('app', app.sessionToken, ofPlayer, false)
  await witnesses.watch('writer', writer.sessionToken, ofPlayer)
  await witnesses.watch('neighbour', neighbour.thingToken, [`things/${neighbour.thingId}/#`])
  const path = `/v2/things/${player.thingId}`
  const events = { accept: 'text/event-stream' }
  await witnesses.stream('app', `${path}?session=${app.sessionToken}`)
  await witnesses.stream('dashboard', `${path}?session=${dashboard.sessionToken}`, events)
  await witnesses.stream('player', `/v2/things/${player.thingToken}`, events)
  await witnesses.stream('writer', path, { authorization: `Bearer ${writer.sessionToken}` })
  return witnesses
}

const lastWill = 'last will'
const lastMessage = 'last message of all'

const version5 = { protocolVersion: 5, properties: { sessionExpiryInterval: 3_600 } } as const

/** Clients that come back, with QoS 2 writes that are not released, and clients with a will, open when the server ends. */
async function leaveOpen(server: ServerProcess, { thingToken }: Thing): Promise<void> {
  const topic = `things/${thingToken}/write`
  const body = (value: string) => ({
    token: thingToken,
    values: [{ key: 'n', value, token: thingToken }],
  })
  const wills = [
    body(lastWill),
    { values: [{ key: thingToken }] },
    `${thingToken}`,
    { ...body('x'), id: thingToken },
  ]
  const topicSession = { username: thingToken, clientId: `house ${thingToken}`, clean: false } as const
  const away = await connectMqtt({ url: server.mqttUrl, ...version5, ...topicSession })
  await away.subscribeAll(['house/player/#'], 2)
  await away.disconnect()
  const willful = await connectMqtt({
    ...{ url: server.mqttUrl, ...version5, username: thingToken, clientId: `will ${thingToken}` },
    will: { topic: 'house/player/will', payload: lastMessage, qos: 1 },
  })
  const properties = { contentType: 'text/plain', userProperties: { unit: 'none' } }
  await willful.publish('house/player/state', 'on', { retain: true, properties })
  await willful.publishUntilPubrec('house/player/state', 'for one who is away')
  const versions = [{ protocolVersion: 4 }, version5] as const
  const willProperties = { willDelayInterval: 1, contentType: thingToken, userProperties: { id: thingToken } }
  const opening = [...wills, ...wills].map(async (payload, index) => {
    const client = await connectMqtt({
      url: index % 2 === 0 ? server.mqttUrl : server.webSocketUrl,
      ...versions[index < wills.length ? 0 : 1],
      ...(index % wills.length < 2 && { username: thingToken }),
      clientId: `${thingToken}${index}`,
      clean: index % wills.length >= 2,
      will: { topic, payload, qos: 1, properties: willProperties },
    })
    await client.subscribeAll([`things/${thingToken}/#`, `v2/things/${thingToken}`])
    await client.publishUntilPubrec(topic, body(`in flight ${index}`))
  })
  await Promise.all(opening)
}

/**
 * A client says its own token where it may: what it says is data, for those who may read it. Nobody else is to hear of it, and
 * nothing that the server says of itself is to hold it.
 */
async function talk(server: ServerProcess, { talker }: Cast, round: string): Promise<void> {
  for (const version of [{ protocolVersion: 4 }, version5] as const)
    await talkIn({ url: server.mqttUrl, ...version }, talker, round)
}

async function talkIn(address: MqttAddress, { thingToken: token }: Thing, round: string): Promise<void> {
  const topic = `house/talker/${token}`
  const properties = {
    ...{ contentType: token, responseTopic: `${topic}/answers`, correlationData: Buffer.from(token) },
    userProperties: { [token]: token },
  }
  const session = { ...address, username: token, clientId: 'talker', clean: false }
  const will = { topic, payload: token, qos: 1, retain: true, properties } as const
  const client = await connectMqtt({ ...session, will })
  await client.subscribeAll([`${topic}/#`, `house/talker/+/${round}`], 2)
  for (const qos of [0, 1, 2] as const) {
    await client.publish(`${topic}/${round}`, token, { qos, retain: true, properties })
    await client.next(isMessageOn(`${topic}/${round}`))
  }
  await client.destroy()
  const other = await connectMqtt({ ...session, clientId: 'other', clean: true })
  await other.publish(`${topic}/${round}`, `owed ${token}`, { properties })
  await other.publish(topic, '', { retain: true })
  await other.unsubscribe(`${topic}/#`)
  await other.disconnect()
}
