import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { expect } from 'vitest'
import { type Thing, write } from '../helpers/http-client.ts'
import {
  type ConnectOptions,
  codeOf,
  connectMqtt,
  isOf,
  type MqttClient,
  packetText,
} from '../helpers/mqtt-client.ts'
import { type Cast, credentialOf, readAndWrite, spell, victimsMark, type Who } from './cast.ts'
import type { RunningServer, Way, World } from './world.ts'

/** What attackers and the clients of stories do, over HTTP and over either way to the MQTT door. */

/** Milliseconds for one request. */
const deadline = 20_000

/** A request over HTTP, sent as it is spelled. */
export interface HttpRequest {
  /** Method, path and perhaps, behind a blank, a body of JSON. */
  readonly request: string
  /** Default of a POST or PATCH without one: a `forgery`. */
  readonly body?: object
  /** Default: nobody. */
  readonly as?: Who
  readonly headers?: Readonly<Record<string, string>>
}

export type HttpAnswer = Awaited<ReturnType<typeof ask>>

/** A write that no one but its maker may ever see, and that none of the victim's resources may hold. */
export function forgery(by: string): object {
  return { values: [{ key: 'forged', value: by }] }
}

/** Sends a path as it is spelled: no client library would. */
export async function ask(
  { server, cast }: Pick<World, 'server' | 'cast'>,
  { request: line, as, headers = {}, body = forgery('a request') }: HttpRequest,
) {
  const { hostname, port } = new URL(server.url)
  const [, method = '', path = '', text] = /^(\S+) (.*?)(?: (\{.*\}))?$/s.exec(line) ?? []
  const credential = credentialOf(cast, as)
  const authorization = credential && { authorization: `Bearer ${credential}` }
  const spelled = Object.entries(headers).map(([header, value]) => [header, spell(cast, value)])
  const sent = request({
    hostname,
    port,
    method,
    path: spell(cast, path),
    headers: { ...authorization, ...Object.fromEntries(spelled) },
    signal: AbortSignal.timeout(deadline),
    agent: false,
  })
  const takesBody = method === 'POST' || method === 'PATCH'
  sent.end(takesBody ? spell(cast, text ?? JSON.stringify(body)) : undefined)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response) }
}

/** As `connectMqtt`. In version 5, too, a session that is not clean is kept. */
export function connectOver(
  { server }: Pick<World, 'server'>,
  { transport, protocolVersion }: Way,
  options: ConnectOptions = {},
): Promise<MqttClient> {
  const url = transport === 'TCP' ? server.mqttUrl : server.webSocketUrl
  const kept = options.clean === false ? { sessionExpiryInterval: 3_600 } : {}
  const properties = { ...kept, ...options.properties }
  return connectMqtt({ ...options, url, protocolVersion, properties })
}

/** The code of version 5 for a return code of CONNACK in 3.1.1. */
export function connackIn({ protocolVersion }: Way, returnCode: 4 | 5): number {
  if (protocolVersion === 4) return returnCode
  return returnCode === 4 ? 0x86 : 0x87
}

/** What SUBACK says of these filters: version 5 has more than 128 for those that are refused. */
export function subackIn(
  { protocolVersion }: Way,
  filters: readonly string[],
  granted: readonly number[],
): readonly number[] {
  if (protocolVersion === 4) return granted
  return granted.map((code, place) => {
    if (code !== 128) return code
    return filters[place]?.startsWith('$share/') ? 0x9e : 0x87
  })
}

/** The server ends the connection; in version 5 it says why. Default: the credential is dead. */
export async function untilClosed(
  client: MqttClient,
  { protocolVersion }: Way,
  reasonCode = 0x87,
): Promise<void> {
  await client.untilClosed()
  const codes = client.received.filter(isOf('disconnect')).map(packet => packet.reasonCode)
  expect(codes).toEqual(protocolVersion === 5 ? [reasonCode] : [])
}

/** Connects with this credential as password, under a username that is nobody's; anonymous with none. */
export async function login(
  world: Pick<World, 'server'>,
  way: Way,
  credential: string | undefined,
  options: ConnectOptions = {},
): Promise<MqttClient> {
  const client = await connectOver(world, way, { ...loginOf(credential), ...options })
  expect(codeOf(client.connack)).toBe(0)
  return client
}

export function loginOf(credential: string | undefined): ConnectOptions {
  return credential === undefined ? {} : { username: 'anybody', password: credential }
}

/** CONNACK 4 or 0x86, and no session of this client id; then the end of the connection. */
export async function expectRefused(
  world: Pick<World, 'server'>,
  way: Way,
  password: string,
  clientId: string,
): Promise<void> {
  const client = await connectOver(world, way, { clientId, clean: false, ...loginOf(password) })
  expect(client.connack.sessionPresent).toBe(false)
  expect(codeOf(client.connack)).toBe(connackIn(way, 4))
  await client.untilClosed()
}

/** One record of the resource `n`. */
export async function writeValue({ server }: Pick<World, 'server'>, thing: Thing, value: string) {
  expect((await write(server, thing, { values: [{ key: 'n', value }] })).status).toBe(201)
}

/** The values of all records of messages received so far, in order; `retained` or live ones. */
export async function valuesOf(client: MqttClient, kind: 'live' | 'retained' = 'live'): Promise<unknown[]> {
  return (await messagesOf(client))
    .filter(({ retain }) => retain === (kind === 'retained'))
    .flatMap(({ payload }) => {
      const message: unknown = JSON.parse(payload.toString())
      return Array.isArray(message) ? message : [message]
    })
    .filter((item: object) => 'value' in item && !('key' in item && item.key === 'date'))
    .map((item: { value: unknown }) => item.value)
}

/** Waits until a live record of this value is there. */
export async function untilValue(client: MqttClient, value: string): Promise<void> {
  await client.next(packet => packet.cmd === 'publish' && packet.payload.includes(JSON.stringify(value)))
}

/** Every message received so far. */
export async function messagesOf(client: MqttClient) {
  // What was sent before the answer to a ping is there then.
  await client.ping()
  return client.received.filter(isOf('publish'))
}

/** Payloads of every message received so far. */
export async function textsOf(client: MqttClient): Promise<string[]> {
  return (await messagesOf(client)).map(({ payload }) => String(payload))
}

export async function untilText(client: MqttClient, text: string): Promise<void> {
  await client.next(packet => packet.cmd === 'publish' && String(packet.payload) === text)
}

/** Whatever the connection ever received, nothing came from the victim's thing, or names it. */
export function expectNothingSeen({ victim }: Cast, { received }: MqttClient): void {
  const secrets = [victimsMark, victim.thingId, victim.thingToken]
  const seen = received.map(packetText).filter(text => secrets.some(secret => text.includes(secret)))
  expect(seen).toEqual([])
}

/** A thing that may use everything below a topic of its own. */
export async function thingWithTopics({ operator }: RunningServer): Promise<[thing: Thing, base: string]> {
  const thing = await operator.createThing()
  const base = `house/${thing.thingId}`
  await operator.setTopics(thing, readAndWrite(`${base}/#`))
  return [thing, base]
}

/** As the operator, who may publish everywhere. */
export async function publishAsOperator(
  world: Pick<World, 'server'>,
  way: Way,
  topic: string,
  text: string,
  retain = false,
): Promise<void> {
  const operator = await login(world, way, world.server.adminKey)
  await operator.publish(topic, text, { retain })
  await operator.disconnect()
}

/** As the operator, on a topic that is hidden, and then on one that is not. */
export async function publishHiddenAndShown(
  world: Pick<World, 'server'>,
  way: Way,
  base: string,
  text: string,
  retain = false,
): Promise<void> {
  await publishAsOperator(world, way, `${base}/a/hidden`, `hidden, ${text}`, retain)
  await publishAsOperator(world, way, `${base}/a/shown`, text, retain)
}

/** Some turns of the event loop later, so that the rounds of a race meet at different moments. */
export async function later<Result>(turns: number, act: () => Promise<Result>): Promise<Result> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(resolve => setImmediate(resolve))
  return await act()
}
