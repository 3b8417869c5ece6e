import {
  activation,
  activationExample,
  created,
  error,
  givenRecord,
  limits,
  refusedWrite,
  refusedWriteExample,
  serverTime,
  write,
  writtenRecords,
} from '../../http/operation/shapes.ts'
import {
  activationTopic,
  answersTopic,
  dateTopic,
  errorsTopic,
  limitsTopic,
  valuesTopic,
  wholeTopic,
  writeTopic,
} from '../../mqtt/topics.ts'
import { type Schema, Schemas } from './schemas.ts'

interface MqttPlaces {
  readonly mqtt: number
  readonly mqtts: number | undefined
  /** Port of MQTT over WebSocket. */
  readonly http: number
  readonly https: number | undefined
}

export type AsyncApi = ReturnType<typeof asyncApi>

const introduction = `
Thingwire speaks MQTT 3.1, 3.1.1 and 5 at QoS 0, 1 and 2, over TCP and over WebSocket. A topic names the thing by its token or its
id. CONNECT needs no credential: the token in a topic is enough.

- PUBACK or PUBREC means that the write is durable, or that it was refused for good because of its content. A refusal is sent
  to \`things/{ref}/errors\`. While the store is unavailable, the server closes the connection without an ack: send the write again.
- In MQTT 5 the ack of a refused message has a reason code from 0x80 on, a Reason String and User Properties. A write may have the User
  Properties \`store\`, \`broadcast\`, \`partial\` and \`id\`, and a Response Topic for the answer of HTTP.
- Live messages arrive in write order, at QoS 1 or the granted QoS if that is less. A new subscriber to values first gets the
  latest record of each resource, with RETAIN set. A session with \`clean=false\` gets the messages that it missed, in MQTT 5 one with a
  Session Expiry.
- A will must be on a write topic.

[OpenAPI](../docs) describes HTTP.
`.trim()

interface ParameterObject {
  readonly description: string
  readonly examples: readonly string[]
}

const ref: ParameterObject = {
  description:
    'The token of the thing, or its id if the credential of the connection is for the thing. Filters of a session or the admin may use `+`.',
  examples: ['mzxw6ytboi4dcmjs'],
}
const key = {
  description: 'The key of the resource. A filter may use `+` or `#`.',
  examples: ['temperature', '$geo'],
}
const format = { description: 'The format of the message: `value`, `json` or `influx`.', examples: ['value'] }
const levels = {
  description: 'The key of `value`, the beginning of each key of `json`; none for `influx`.',
  examples: ['cellar/temperature'],
}
const code = { description: 'An activation code.', examples: ['Zm9vYmFyLXRoaXMtaXMtbm90LWEtY29kZQ'] }
const any = { description: 'Any text, to distinguish the answers.', examples: ['board-7'] }
const answers = { description: 'Any text, of several levels or none.', examples: ['board-7'] }

const record = { key: 'temperature', value: 21.5, datetime: '2026-11-21T09:30:00.000Z' }
const refusedExample = {
  status: 'error',
  code: 400,
  reason: 'invalid_json',
  message: refusedWriteExample.message,
}

interface Topic {
  readonly address: string
  readonly description: string
  readonly parameters: Readonly<Record<string, ParameterObject>>
  /** By name, which begins with the action `receive` or `send`: the message and what happens. */
  readonly operations: Readonly<
    Record<string, readonly [message: string, summary: string, retain?: 'retained']>
  >
}

/** By name of the channel. */
const topics: Readonly<Record<string, Topic>> = {
  write: {
    address: writeTopic('{ref}'),
    description: 'The thing writes here. The message is neither relayed nor retained.',
    parameters: { ref },
    operations: { receiveWrite: ['write', 'Accepts a write.'] },
  },
  formats: {
    address: `${writeTopic('{ref}')}/{format}/{levels}`,
    description: 'The thing writes here in a format of devices off the shelf, such as `21.5`.',
    parameters: { ref, format, levels },
    operations: { receiveReading: ['reading', 'Accepts a write in a format.'] },
  },
  wholeWrites: {
    address: wholeTopic('{ref}'),
    description: 'The thing can also write here. Subscribers get each write as a whole.',
    parameters: { ref },
    operations: {
      receiveWholeWrite: ['write', 'Accepts a write.'],
      sendWrittenRecords: ['writtenRecords', 'Sends each new write.'],
    },
  },
  values: {
    address: valuesTopic('{ref}', '{key}'),
    description: 'Subscribers get each record by itself.',
    parameters: { ref, key },
    operations: {
      sendRecord: ['record', 'Sends each new record.'],
      sendPresent: ['record', 'Sends the latest record of each resource to a new subscriber.', 'retained'],
      sendEmptied: ['emptied', 'Sends an empty message when a resource has no records left.'],
    },
  },
  errors: {
    address: errorsTopic('{ref}'),
    description: 'Refused writes, over HTTP and MQTT. Read sessions may not subscribe.',
    parameters: { ref },
    operations: {
      sendRefusedWrite: ['refusedWrite', 'Sends a refused write; at most ten a second for a thing.'],
    },
  },
  date: {
    address: dateTopic('{ref}'),
    description: 'The time of the server, once for each SUBSCRIBE.',
    parameters: { ref },
    operations: { sendServerTime: ['serverTime', 'Sends the time to a new subscriber.', 'retained'] },
  },
  limits: {
    address: limitsTopic('{ref}'),
    description: 'The limits of the server, once for each SUBSCRIBE.',
    parameters: { ref },
    operations: { sendLimits: ['limits', 'Sends the limits to a new subscriber.', 'retained'] },
  },
  activation: {
    address: activationTopic('{code}', '{any}'),
    description:
      'A SUBSCRIBE is the request, and only that connection gets the answer. An invalid code gets SUBACK 128.',
    parameters: { code, any },
    operations: { sendActivation: ['activation', 'Sends the new thing its token.'] },
  },
  answers: {
    address: `${answersTopic('{ref}')}/{any}`,
    description:
      'MQTT 5: the answer to a write that has this topic as its Response Topic, for its sender alone.',
    parameters: { ref, any: answers },
    operations: {
      sendCreated: ['created', 'Sends what HTTP answers to a write that is stored.'],
      sendRefused: ['refused', 'Sends what HTTP answers to a refused write.'],
    },
  },
}

/** Contract §7 as AsyncAPI 3, from the server's view: `receive` is a client's PUBLISH, `send` is a message to a subscriber. */
export function asyncApi({ version, places }: { readonly version: string; readonly places: MqttPlaces }) {
  const schemas = new Schemas('draft-07')
  const messages = {
    write: message('A write', schemas.of(write), { values: [{ key: 'temperature', value: 21.5 }] }),
    reading: message('A reading, in the format that the topic names', {}, 21.5),
    record: message('A record, or the state of a magic resource', schemas.of(givenRecord), record),
    emptied: {
      title: 'An empty message: the resource was emptied',
      contentType: 'application/octet-stream',
      payload: { type: 'string', maxLength: 0 },
      examples: [{ payload: '' }],
    },
    writtenRecords: message('The records of one write, as they were sent', schemas.of(writtenRecords), [
      { key: 'temperature', value: 21.5 },
    ]),
    refusedWrite: message('A refused write', schemas.of(refusedWrite), refusedWriteExample),
    serverTime: message('The time of the server', schemas.of(serverTime), [
      { key: 'date', value: record.datetime },
    ]),
    limits: message('The limits of the server', schemas.of(limits), { maxPacketSize: 1_048_576, meta: true }),
    activation: message('A thing has registered itself', schemas.of(activation), activationExample),
    created: answer('A write is stored', schemas.of(created), { status: 'created', message: 'created' }),
    refused: answer('A write is refused', schemas.of(error), refusedExample),
  }
  const all = Object.entries(topics)
  return {
    asyncapi: '3.0.0' as const,
    info: { title: 'Thingwire', version, description: introduction },
    defaultContentType: 'application/json',
    servers: servers(places),
    channels: Object.fromEntries(all.map(([name, topic]) => [name, channelOf(topic)])),
    operations: Object.fromEntries(all.flatMap(([name, { operations }]) => operationsOf(name, operations))),
    components: {
      securitySchemes: {
        credential: {
          type: 'userPassword',
          description:
            'The password is a session token, the admin key or a thing token; or the user name is a thing token. A connection without ' +
            'a credential is anonymous, and the server closes it after 60 s unless a topic has contained a valid token.',
        },
      },
      messages,
      schemas: schemas.components,
    },
  }
}

function servers({ mqtt, mqtts, http, https }: MqttPlaces) {
  return {
    mqtt: server('mqtt', mqtt, 'MQTT 3.1, 3.1.1 or 5'),
    ...(mqtts !== undefined && { mqtts: server('secure-mqtt', mqtts, 'MQTT 3.1, 3.1.1 or 5 with TLS') }),
    ws: server('ws', http, 'MQTT over WebSocket; the subprotocol `mqtt` or `mqttv3.1` is required'),
    ...(https !== undefined && { wss: server('wss', https, 'MQTT over WebSocket with TLS') }),
  }
}

function server(protocol: 'mqtt' | 'secure-mqtt' | 'ws' | 'wss', port: number, description: string) {
  const isMqtt = protocol.endsWith('mqtt')
  return {
    host: `{host}:${port}`,
    ...(!isMqtt && { pathname: '/mqtt' }),
    protocol,
    ...(isMqtt && { protocolVersion: '5' }),
    description,
    variables: { host: { default: 'localhost', description: 'The name of the server.' } },
    security: [{ $ref: '#/components/securitySchemes/credential' }],
  }
}

function message(title: string, payload: Schema, example: unknown) {
  return { title, contentType: 'application/json', payload, examples: [{ payload: example }] }
}

/** A message with the Correlation Data of the write that it answers. */
function answer(title: string, payload: Schema, example: unknown) {
  const correlationData = { description: 'That of the write.' }
  return {
    ...message(title, payload, example),
    bindings: { mqtt: { correlationData, bindingVersion: '0.2.0' } },
  }
}

function channelOf({ address, description, parameters, operations }: Topic) {
  const subprotocol = { type: 'string', enum: ['mqtt', 'mqttv3.1'] }
  const properties = { 'Sec-WebSocket-Protocol': subprotocol }
  const headers = { type: 'object', properties, required: ['Sec-WebSocket-Protocol'] }
  const messages = Object.values(operations).map(([name]) => [
    name,
    { $ref: `#/components/messages/${name}` },
  ])
  return {
    address,
    description,
    parameters,
    messages: Object.fromEntries(messages),
    bindings: { ws: { method: 'GET', headers, bindingVersion: '0.1.0' } },
  }
}

function operationsOf(channel: string, operations: Topic['operations']) {
  return Object.entries(operations).map(([name, [message, summary, retain]]) => {
    const operation = {
      action: name.startsWith('receive') ? 'receive' : 'send',
      channel: { $ref: `#/channels/${channel}` },
      summary,
      messages: [{ $ref: `#/channels/${channel}/messages/${message}` }],
      bindings: { mqtt: { qos: 1, retain: retain === 'retained', bindingVersion: '0.2.0' } },
    }
    return [name, operation] as const
  })
}
