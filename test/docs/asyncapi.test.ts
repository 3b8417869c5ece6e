import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { isMessageOn, type MqttClient, type Payload } from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { type DocumentedServer, openDocumentedServer } from './documented-server.ts'
import { type Matcher, matcherOf, type Schema } from './matcher.ts'

interface AsyncApi {
  readonly asyncapi: string
  readonly servers: Readonly<Record<string, ServerObject>>
  readonly channels: Readonly<Record<string, { readonly address: string }>>
  readonly operations: Readonly<Record<string, OperationObject>>
  readonly components: {
    readonly messages: Readonly<Record<string, MessageObject>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

interface ServerObject {
  readonly host: string
  readonly pathname?: string
  readonly protocolVersion?: string
}

interface OperationObject {
  readonly action: 'receive' | 'send'
  readonly channel: { readonly $ref: string }
  readonly messages: readonly [{ readonly $ref: string }]
  readonly bindings: { readonly mqtt: { readonly qos: number; readonly retain: boolean } }
}

interface MessageObject {
  readonly bindings?: { readonly mqtt: { readonly correlationData?: object } }
  readonly payload: Schema
  readonly examples: readonly [{ readonly payload: unknown }]
}

let server: DocumentedServer
let document: AsyncApi
let matcher: Matcher
beforeAll(async () => {
  server = await openDocumentedServer()
  document = (await (await fetch(`${server.url}/docs/asyncapi`)).json()) as AsyncApi
  matcher = matcherOf(document.components.schemas)
})
afterAll(() => server.close())

describe('/docs/asyncapi', () => {
  it('is AsyncAPI 3 by the official schema and its rules for references', async () => {
    expect(document.asyncapi).toBe('3.0.0')
    expect(await asyncApiProblems(document)).toEqual([])
  })

  it('would be found wrong', async () => {
    const { receiveWrite } = document.operations
    if (!receiveWrite) throw new Error('there is no receiveWrite')
    const [message] = receiveWrite.messages
    const stray = { ...receiveWrite, channel: { $ref: '#/channels/values' }, messages: [message] as const }
    const wrong = { ...document, info: undefined, operations: { receiveWrite: stray } }
    expect(await asyncApiProblems(wrong)).toEqual([
      " must have required property 'info'",
      `receiveWrite: ${message.$ref} is no message of its channel`,
    ])
  })

  it('says where MQTT is', async () => {
    const { mqtt, ws } = document.servers
    expect(mqtt?.protocolVersion).toBe('5')
    expect(`mqtt://${mqtt?.host.replace('{host}', '127.0.0.1')}`).toBe(server.mqttUrl)
    expect(`ws://${ws?.host.replace('{host}', '127.0.0.1')}${ws?.pathname}`).toBe(server.webSocketUrl)
  })

  it('is a page without script for a browser', async () => {
    const response = await fetch(`${server.url}/docs/asyncapi`, { headers: { accept: 'text/html,*/*' } })
    const page = await response.text()
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'.*style-src 'sha256-/)
    expect(page).not.toMatch(/<script|style="/)
    for (const { address } of Object.values(document.channels))
      expect(page).toContain(`<code>${address}</code></h2>`)
    for (const name of Object.keys(document.components.schemas)) expect(page).toContain(`id="schema-${name}"`)
  })

  it('is JSON where no page is accepted', async () => {
    const headers = { accept: 'text/html; q=0, application/json' }
    const response = await fetch(`${server.url}/docs/asyncapi`, { headers })
    expect(response.headers.get('content-type')).toBe('application/json')
  })

  it('has no operation that is not tried here', () => {
    const tried = [...received, ...sent.map(({ name }) => name)]
    expect(Object.keys(document.operations).sort()).toEqual(tried.sort())
  })
})

const received = ['receiveWrite', 'receiveReading', 'receiveWholeWrite'] as const

describe.each(received)('%s', name => {
  it.each(['mqttUrl', 'webSocketUrl'] as const)(
    'takes the message that the document shows, at %s',
    async url => {
      const { thing, client } = await connectThing(url)
      const { payload } = messageOf(name)
      const [{ payload: example }] = messageOf(name).examples
      expect(matcher(example, payload)).toBeUndefined()
      await client.publish(topicOf(name, thing), example as object, { qos: 1 })
      expect(await readAll(server, thing, 'temperature')).toMatchObject([{ value: 21.5 }])
    },
  )
})

interface Sent {
  readonly name: string
  /** What makes the server send it; before the SUBSCRIBE if it is of what is there. */
  readonly cause: (thing: Thing, client: MqttClient, topic: string) => Promise<unknown>
  readonly isBefore?: true
}

const correlationData = Buffer.from('4711')
const publishAnswered = (body: Payload) => async (thing: Thing, client: MqttClient, responseTopic: string) =>
  await client.publish(topicOf('receiveWrite', thing), body, {
    qos: 0,
    properties: { responseTopic, correlationData },
  })

const writeOne = (thing: Thing) => write(server, thing, { values: [{ key: 'temperature', value: 1 }] })
const sent: readonly Sent[] = [
  { name: 'sendRecord', cause: writeOne },
  { name: 'sendPresent', cause: writeOne, isBefore: true },
  {
    name: 'sendEmptied',
    cause: async thing => {
      await writeOne(thing)
      const headers = { authorization: server.adminKey }
      await fetch(`${server.url}/v2/things/${thing.thingId}/resources/temperature`, {
        method: 'DELETE',
        headers,
      })
    },
  },
  { name: 'sendWrittenRecords', cause: writeOne },
  {
    name: 'sendRefusedWrite',
    cause: thing => write(server, thing, { values: [{ key: 'no spaces', value: 1 }] }),
  },
  { name: 'sendServerTime', cause: async () => {} },
  { name: 'sendLimits', cause: async () => {} },
  { name: 'sendActivation', cause: async () => {} },
  { name: 'sendCreated', cause: publishAnswered({ values: [{ key: 'temperature', value: 1 }] }) },
  { name: 'sendRefused', cause: publishAnswered('no JSON') },
]

describe.each(sent)('$name', ({ name, cause, isBefore }) => {
  it('sends what the document says', async () => {
    const { thing, client } = await connectThing('mqttUrl')
    const { mqtt } = operationOf(name).bindings
    const topic = topicOf(name, thing, await activationCode())
    if (isBefore) await cause(thing, client, topic)
    expect(await client.subscribe(topic, 1)).toBe(1)
    if (!isBefore) await cause(thing, client, topic)
    const isEmpty = name === 'sendEmptied'
    const message = await client.next(
      packet => isMessageOn(topic)(packet) && (!isEmpty || packet.payload.length === 0),
    )
    expect(message).toMatchObject({ qos: mqtt.qos, retain: mqtt.retain })
    const correlated = message.cmd === 'publish' && message.properties?.correlationData !== undefined
    expect(messageOf(name).bindings?.mqtt.correlationData !== undefined).toBe(correlated)
    const payload = 'payload' in message ? message.payload.toString() : ''
    const value: unknown = isEmpty ? payload : JSON.parse(payload)
    expect(matcher(value, messageOf(name).payload)).toBeUndefined()
  })

  it('shows an example that is as it says', () => {
    const { payload, examples } = messageOf(name)
    expect(matcher(examples[0].payload, payload)).toBeUndefined()
  })
})

async function connectThing(url: 'mqttUrl' | 'webSocketUrl'): Promise<{ thing: Thing; client: MqttClient }> {
  const thing = await createThing(server)
  const client = await mqttOfTest({ url: server[url], username: thing.thingToken, protocolVersion: 5 })
  return { thing, client }
}

async function activationCode(): Promise<string> {
  const headers = { authorization: server.adminKey }
  const response = await fetch(`${server.url}/v2/admin/activation-codes`, { method: 'POST', headers })
  const { activationCodes } = (await response.json()) as { activationCodes: string[] }
  return activationCodes[0] ?? ''
}

function operationOf(name: string): OperationObject {
  const operation = document.operations[name]
  if (!operation) throw new Error(`there is no ${name}`)
  return operation
}

function messageOf(name: string): MessageObject {
  const [{ $ref }] = operationOf(name).messages
  const message = document.components.messages[$ref.split('/').at(-1) ?? '']
  if (!message) throw new Error(`there is no ${$ref}`)
  return message
}

function topicOf(name: string, { thingId }: Thing, code = ''): string {
  const { $ref } = operationOf(name).channel
  const key = 'temperature'
  const values: Record<string, string> = {
    ref: thingId,
    key,
    format: 'value',
    levels: key,
    code,
    any: 'board-7',
  }
  const address = document.channels[$ref.split('/').at(-1) ?? '']?.address ?? ''
  return address.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => values[parameter] ?? '')
}

interface Reference {
  readonly $ref: string
}

interface AsyncApiDocument {
  readonly asyncapi: string
  readonly channels: Readonly<Record<string, Channel>>
  readonly operations: Readonly<Record<string, Operation>>
}

interface Channel {
  readonly address: string
  readonly parameters?: object
}

interface Operation {
  readonly channel: Reference
  readonly messages: readonly Reference[]
}

/**
 * What is wrong with a document of AsyncAPI 3: by the schema that the initiative publishes for its version, and by the
 * rules that a schema cannot express. Its own parser checks the same, but brings 160 packages, one of which reports each
 * installation.
 */
async function asyncApiProblems(document: AsyncApiDocument): Promise<string[]> {
  const schemaProblems = await problemsBySchema(document)
  const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)
  const dangling = [...references]
    .map(([, reference = '']) => reference)
    .filter(reference => resolve(document, reference) === undefined)
    .map(reference => `${reference} is nowhere`)
  const ofChannels = Object.entries(document.channels).flatMap(problemsOfChannel)
  const ofOperations = Object.entries(document.operations).flatMap(problemsOfOperation)
  return [...schemaProblems, ...dangling, ...ofChannels, ...ofOperations]
}

async function problemsBySchema(document: AsyncApiDocument): Promise<string[]> {
  const path = createRequire(import.meta.url).resolve(`@asyncapi/specs/schemas/${document.asyncapi}.json`)
  // The schema carries a draft 7 of its own, under the name of that of ajv.
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false })
  addFormats.default(ajv)
  const validate = ajv.compile(JSON.parse(await readFile(path, 'utf8')))
  validate(document)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

function problemsOfChannel([name, { address, parameters = {} }]: [string, Channel]): string[] {
  const named = [...address.matchAll(/\{([^}]+)\}/g)].map(([, parameter = '']) => parameter)
  const described = Object.keys(parameters)
  return [
    ...named.filter(parameter => !described.includes(parameter)).map(parameter => `${parameter} is missing`),
    ...described.filter(parameter => !named.includes(parameter)).map(parameter => `${parameter} is too many`),
    ...(/[?#]/.test(address) ? ['the address has a query or a fragment'] : []),
  ].map(problem => `${name}: ${problem}`)
}

function problemsOfOperation([name, { channel, messages }]: [string, Operation]): string[] {
  if (!channel.$ref.startsWith('#/channels/')) return [`${name}: ${channel.$ref} is no channel`]
  return messages
    .filter(({ $ref }) => !$ref.startsWith(`${channel.$ref}/messages/`))
    .map(({ $ref }) => `${name}: ${$ref} is no message of its channel`)
}

/** @param reference a JSON pointer into the document, as `#/channels/values` */
function resolve(document: unknown, reference: string): unknown {
  const steps = reference.replace(/^#\//, '').split('/')
  return steps
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((found, step) => (found as Record<string, unknown> | undefined)?.[step], document)
}
