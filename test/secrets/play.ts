import type { Thing } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { type Cast, createCast } from './cast.ts'
import type { Evidence } from './evidence.ts'
import { Operator } from './operator.ts'
import { playPlaces } from './play-places.ts'
import { Witnesses } from './witnesses.ts'

const everything = ['things/+/#', 'v2/things/+']

/** Uses every secret in every way, and ends the server when most of that is still open. */
export async function playFirst(server: ServerProcess, evidence: Evidence): Promise<Cast> {
  const operator = new Operator(server, evidence)
  const cast = await createCast(server, operator, evidence)
  const witnesses = await watch(server, evidence, cast)
  const { player, secrets, things } = cast
  const thingIds = things.map(({ thingId }) => thingId)
  for (const secret of Object.values(secrets)) {
    await playPlaces(server, evidence, secret, { thingId: player.thingId, token: player.thingToken })
    await operator.lookAtAll(thingIds)
  }
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
  for (const secret of Object.values(secrets).slice(0, 2)) {
    await playPlaces(server, evidence, secret, { thingId: player.thingId, token: player.thingToken })
  }
  await operator.lookAtAll(things.map(({ thingId }) => thingId))
  await leaveOpen(server, player)
  await witnesses.untilMarked(player, 'second')
  await operator.backUp()
  await server.stop()
  await witnesses.end()
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
