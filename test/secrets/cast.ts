import { createToken } from '../../src/core/token.ts'
import type { Session, Thing } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import type { Evidence } from './evidence.ts'
import type { Operator } from './operator.ts'

/** Every kind of credential, alive and dead. */
export type Cast = Awaited<ReturnType<typeof createCast>>

/** Topics beside those of things: everything below `house/<name>`. */
const topicsOf = (name: string) =>
  (['read', 'write'] as const).map(access => ({ filter: `house/${name}/#`, access }))

export async function createCast(server: ServerProcess, operator: Operator, evidence: Evidence) {
  const thing = (name: string) =>
    operator.mint<Thing>(`token of the ${name}`, '/v2/admin/things', { name, topics: topicsOf(name) })
  const player = await thing('player')
  const neighbour = await thing('neighbour')
  const other = await thing('other')
  // Says its own token in topics and payloads.
  const talker = await thing('talker')
  // A client's own text, on topics that it may use, is data: kept as it is, and told to who may read it (SECURITY.md).
  evidence.addSecret('token of the talker', talker.thingToken, { isKeptInClear: true })
  const session = (name: string, path: string, body: object, credential?: string) =>
    operator.mint<Session>(`session token of the ${name}`, path, body, credential)
  const ofPlayer = `/v2/things/${player.thingToken}/sessions`
  const topics = topicsOf('player')
  const dashboard = await session('dashboard', '/v2/admin/sessions', { things: '*', access: 'read', topics })
  const some = [other.thingId]
  const gateway = await session('gateway', '/v2/admin/sessions', { things: some, access: 'write' })
  const app = await session('app', ofPlayer, { access: 'read' }, 'none')
  const writer = await session('writer', ofPlayer, { access: 'write' }, 'none')
  const ended = await session('ended', ofPlayer, { access: 'write' }, 'none')
  await operator.ask('DELETE', `/v2/admin/sessions/${ended.sessionId}`)
  const tokens = `/v2/admin/things/${other.thingId}/tokens`
  const revoked = await operator.mint<Thing & { tokenId: string }>('revoked token', tokens)
  await operator.ask('DELETE', `${tokens}/${revoked.tokenId}`)
  const levels = {
    name: 'house',
    formats: ['levels', 'influx', 'ttn'],
    pattern: 'estate/{device}/{key}',
    topics: ['estate/#'],
  }
  const source = await operator.mint<{ sourceToken: string }>('source token', '/v2/admin/sources', levels)
  await useSource(server, source.sourceToken)
  const [code = '', twice = '', fresh = ''] = await operator.mintCodes(3, 2)
  await operator.mint('token that was not used', '/v2/things', { activationCode: code }, 'none')
  const activated = await operator.mint<Thing>(
    'activated token',
    '/v2/things',
    { activationCode: code },
    'none',
  )
  const overMqtt = await activateOverMqtt(server, evidence, twice)
  return {
    player,
    neighbour,
    talker,
    things: [player, neighbour, other, talker, activated, overMqtt],
    dashboard,
    app,
    writer,
    /** What is put into places that it does not belong to, by name. */
    secrets: {
      'the token of the player': player.thingToken,
      'the token of another': other.thingToken,
      'an activated token': activated.thingToken,
      'a revoked token': revoked.thingToken,
      'an unknown token': evidence.addSecret('unknown token', createToken()),
      'a session of the operator': gateway.sessionToken,
      'a session of a thing': writer.sessionToken,
      'an ended session': ended.sessionToken,
      'a source token': source.sourceToken,
      'the admin key': server.adminKey,
      'an activation code': fresh,
    } as Readonly<Record<string, string>>,
  }
}

/** As user name and as password; in what is refused, and in a client id that is kept. */
async function useSource(server: ServerProcess, token: string): Promise<void> {
  for (const login of [{ username: token }, { username: 'house', password: token }]) {
    const client = await connectMqtt({ url: server.mqttUrl, clientId: `of ${token}`, clean: false, ...login })
    await client.subscribeAll(['estate/#', `elsewhere/${token}`, `things/${token}/#`])
    for (const topic of ['estate/pump/pressure', `elsewhere/${token}`, `things/${token}/write`])
      await client.publish(topic, '1')
    await client.disconnect()
  }
}

async function activateOverMqtt(server: ServerProcess, evidence: Evidence, code: string): Promise<Thing> {
  const client = await connectMqtt({ url: server.mqttUrl })
  const topic = `v2/activations/${code}/mac`
  await client.subscribe(topic)
  const { payload } = await client.next(isMessageOn(topic))
  await client.disconnect()
  const thing = JSON.parse(payload.toString()) as Thing
  evidence.addSecret('token activated over MQTT', thing.thingToken)
  return thing
}
