import type { Thing } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { type Cast, createCast } from './cast.ts'
import type { Evidence } from './evidence.ts'
import { Operator } from './operator.ts'
import { playPlaces } from './play-places.ts'
import { Witnesses } from './witnesses.ts'

const everything = ['things/+/#', 'v2/things/+', 'house/player/#']

/** Uses every secret in every way, and ends the server when most of that is still open. */
export async function playFirst(server: ServerProcess, evidence: Evidence): Promise<Cast> {
  const operator = new Operator(server, evidence)
  const cast = await createCast(server, operator, evidence)
  const witnesses = await watch(server, evidence, cast)
  const { player, secrets, things } = cast
  const thingIds = things.map(({ thingId }) => thingId)
  for (const secret of Object.values(secrets)) {
    await playPlaces(server, evidence, secret, { thingId: player.thingId, token: player.thingToken })
    await operator.giveWrongTopics(secret, player)
    await operator.lookAtAll(thingIds)
  }
  await talk(server, cast, 'first')
  await operator.lookAtAll(thingIds)
  await witnesses.untilMarked(player, 'first')
  await witnesses.end()
  await leaveOpen(server, player)
  await operator.backUp()
  await server.kill()
  return cast
}

/** What the first server left behind comes back, and is left behind again by one that is stopped. */
export async function playSecond(server: ServerProcess, evidence: Evidence, cast: Cast): Promise<void> {
  const operator = new Operator(server, evidence)
  const { player, secrets, things } = cast
  await operator.backUp()
  const witnesses = await watch(server, evidence, cast)
  await witnesses.untilTold('operator', lastWill)
  await witnesses.untilTold('operator', lastMessage)
  for (const secret of Object.values(secrets).slice(0, 2)) {
    await playPlaces(server, evidence, secret, { thingId: player.thingId, token: player.thingToken })
  }
  await talk(server, cast, 'second')
  await operator.lookAtAll(things.map(({ thingId }) => thingId))
  await leaveOpen(server, player)
  await witnesses.untilMarked(player, 'second')
  await operator.backUp()
  await server.stop()
  await witnesses.end()
}

/** On two nodes of one store: the secrets are used at one, and witnesses are at the other. */
export async function playOnNodes(
  here: ServerProcess,
  there: ServerProcess,
  evidence: Evidence,
): Promise<Cast> {
  const operator = new Operator(here, evidence)
  const cast = await createCast(here, operator, evidence)
  const { player, secrets, things } = cast
  const witnesses = await watch(there, evidence, cast)
  const some = ['the token of the player', 'a session of a thing'].map(name => secrets[name] ?? '')
  for (const secret of some) {
    await playPlaces(here, evidence, secret, { thingId: player.thingId, token: player.thingToken })
  }
  await talk(here, cast, 'first')
  for (const server of [here, there]) {
    await new Operator(server, evidence).lookAtAll(things.map(({ thingId }) => thingId))
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
  const witnesses = new Witnesses(server, evidence)
  const ofPlayer = [`things/${player.thingId}/#`, `v2/things/${player.thingId}`]
  await witnesses.watch({ name: 'operator', password: server.adminKey, filters: everything, clean: false })
  await witnesses.watch({ name: 'dashboard', password: dashboard.sessionToken, filters: everything })
  await witnesses.watch({ name: 'app', password: app.sessionToken, filters: ofPlayer, clean: false })
  await witnesses.watch({ name: 'writer', password: writer.sessionToken, filters: ofPlayer })
  const ofNeighbour = [`things/${neighbour.thingId}/#`]
  await witnesses.watch({ name: 'neighbour', password: neighbour.thingToken, filters: ofNeighbour })
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

/**
 * Clients that come back, with QoS 2 writes that are not released and filters spelled with a token, and clients with a
 * will: their connections are open when the server ends.
 */
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
  const away = await connectMqtt({ url: server.mqttUrl, ...topicSession })
  await away.subscribeAll(['house/player/#'], 2)
  await away.disconnect()
  const willful = await connectMqtt({
    url: server.mqttUrl,
    username: thingToken,
    clientId: `will ${thingToken}`,
    will: { topic: 'house/player/will', payload: lastMessage, qos: 1 },
  })
  await willful.publish('house/player/state', 'on', { retain: true })
  await willful.publishUntilPubrec('house/player/state', 'for one who is away')
  const opening = wills.map(async (payload, index) => {
    const client = await connectMqtt({
      url: index % 2 === 0 ? server.mqttUrl : server.webSocketUrl,
      ...(index < 2 && { username: thingToken }),
      clientId: `${thingToken}${index}`,
      clean: index >= 2,
      will: { topic, payload, qos: 1 },
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
  const { thingToken: token } = talker
  const topic = `house/talker/${token}`
  const session = { url: server.mqttUrl, username: token, clientId: 'talker', clean: false }
  const client = await connectMqtt({ ...session, will: { topic, payload: token, qos: 1, retain: true } })
  await client.subscribeAll([`${topic}/#`, `house/talker/+/${round}`], 2)
  for (const qos of [0, 1, 2] as const) {
    await client.publish(`${topic}/${round}`, token, { qos, retain: true })
    await client.next(isMessageOn(`${topic}/${round}`))
  }
  await client.destroy()
  const other = await connectMqtt({ ...session, clientId: 'other', clean: true })
  await other.publish(`${topic}/${round}`, `owed ${token}`)
  await other.publish(topic, '', { retain: true })
  await other.unsubscribe(`${topic}/#`)
  await other.disconnect()
}
