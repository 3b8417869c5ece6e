import {
  activation,
  givenRecord,
  refusedWrite,
  serverTime,
  write,
  writtenRecords,
} from '../../http/operations/shapes.ts'
import {
  activationTopic,
  dateTopic,
  errorsTopic,
  valuesTopic,
  wholeTopic,
  writeTopic,
} from '../../mqtt/topics.ts'
import { type Schema, Schemas } from './schemas.ts'

/** Ports where MQTT is served. */
export interface MqttPlaces {
  readonly mqtt: number
  readonly mqtts: number | undefined
  /** Of MQTT over WebSocket. */
  readonly http: number
  readonly https: number | undefined
}

export type AsyncApi = ReturnType<typeof asyncApi>

const introduction = `
MQTT 3.1 and 3.1.1 at QoS 0, 1 and 2, over TCP and over WebSocket. A topic names the thing by its token or its id.
The CONNECT may be without a credential: the token in each topic is one, then.

- PUBACK and PUBREC say that the write is durable, or that it was refused for good because of its content, which is then told on
  \`things/{ref}/errors\`. While the store is away the connection is closed without either: the write is to be sent again.
- Live messages come in write order, with QoS 1 or what was granted if that is less. Who subscribes to values gets the present of each
  resource first, with RETAIN set. A session with \`clean=false\` gets what it missed.
- A write topic is also the only one for a will.

Paths of HTTP are in [OpenAPI](/docs).
`.trim()

interface ParameterObject {
  readonly description: string
  readonly examples: readonly string[]
}

const ref: ParameterObject = {
  description:
    'The thing: its token, or its id on a connection whose credential is for the thing. In a filter of a session or the admin also `+`.',
  examples: ['mzxw6ytboi4dcmjs'],
}
const key = { description: 'The resource. In a filter also `+` or `#`.', examples: ['temperature', '$geo'] }
const code = { description: 'An activation code.', examples: ['Zm9vYmFyLXRoaXMtaXMtbm90LWEtY29kZQ'] }
const any = { description: 'Anything: it tells answers apart.', examples: ['board-7'] }

const record = { key: 'temperature', value: 21.5, datetime: '2026-11-21T09:30:00.000Z' }

/** AsyncAPI 3 of contract §7, seen from the server: it receives what things publish and sends what clients subscribe to. */
export function asyncApi({ version, places }: { readonly version: string; readonly places: MqttPlaces }) {
  const schemas = new Schemas('draft-07')
  const messages = {
    write: message('A write', schemas.of(write), { values: [{ key: 'temperature', value: 21.5 }] }),
    record: message('A record, or the state of a magic resource', schemas.of(givenRecord), record),
    emptied: {
      title: 'Nothing: the resource was emptied',
      contentType: 'application/octet-stream',
      payload: { type: 'string', maxLength: 0 },
      examples: [{ payload: '' }],
    },
    writtenRecords: message('The records of one write, as they were sent', schemas.of(writtenRecords), [
      { key: 'temperature', value: 21.5 },
    ]),
    refusedWrite: message('A refused write', schemas.of(refusedWrite), {
      datetime: record.datetime,
      door: 'mqtt',
      reason: 'invalid_json',
      message: 'the body must be JSON',
      excerpt: '{"values":[{"key":"temperature","value":NaN}]}',
    }),
    serverTime: message('The time of the server', schemas.of(serverTime), [
      { key: 'date', value: record.datetime },
    ]),
    activation: message('A thing has registered itself', schemas.of(activation), {
      status: 'created',
      message: 'thing activated',
      thingToken: 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4',
      thingId: 'mzxw6ytboi4dcmjs',
    }),
  }
  return {
    asyncapi: '3.0.0' as const,
    info: { title: 'Thingwire', version, description: introduction },
    defaultContentType: 'application/json',
    servers: servers(places),
    channels: {
      write: channel(writeTopic('{ref}'), 'Where a thing writes. Never relayed, never retained.', { ref }, [
        'write',
      ]),
      wholeWrites: channel(
        wholeTopic('{ref}'),
        'Where a thing writes, too; and each write as a whole.',
        { ref },
        ['write', 'writtenRecords'],
      ),
      values: channel(valuesTopic('{ref}', '{key}'), 'What is written, record by record.', { ref, key }, [
        'record',
        'emptied',
      ]),
      errors: channel(
        errorsTopic('{ref}'),
        'Writes that were refused, through either door. Not for read sessions.',
        { ref },
        ['refusedWrite'],
      ),
      date: channel(dateTopic('{ref}'), 'The time, once for each SUBSCRIBE.', { ref }, ['serverTime']),
      activation: channel(
        activationTopic('{code}', '{any}'),
        'A SUBSCRIBE is the request; the answer goes to that connection alone. A code that is not good: SUBACK 128.',
        { code, any },
        ['activation'],
      ),
    },
    operations: {
      receiveWrite: operation('receive', 'write', 'write', 'Takes a write.', false),
      receiveWholeWrite: operation('receive', 'wholeWrites', 'write', 'Takes a write.', false),
      sendRecord: operation('send', 'values', 'record', 'Sends each record as it is written.', false),
      sendPresent: operation(
        'send',
        'values',
        'record',
        'Sends the latest record of each resource to who subscribes.',
        true,
      ),
      sendEmptied: operation('send', 'values', 'emptied', 'Says that nothing is left of a resource.', false),
      sendWrittenRecords: operation(
        'send',
        'wholeWrites',
        'writtenRecords',
        'Sends each write as it is taken.',
        false,
      ),
      sendRefusedWrite: operation(
        'send',
        'errors',
        'refusedWrite',
        'Tells of a refused write; at most ten a second of a thing.',
        false,
      ),
      sendServerTime: operation('send', 'date', 'serverTime', 'Tells the time to who subscribes.', true),
      sendActivation: operation('send', 'activation', 'activation', 'Gives the new thing its token.', false),
    },
    components: {
      securitySchemes: {
        credential: {
          type: 'userPassword',
          description:
            'Password: a session token, the admin key, or a thing token. Or user name: a thing token. Without either the connection is ' +
            'anonymous, and is closed after 60 s unless a topic has held a good token.',
        },
      },
      messages,
      schemas: schemas.components,
    },
  }
}

/** Of each listener, such as `mqtts`. */
function servers({ mqtt, mqtts, http, https }: MqttPlaces) {
  return {
    mqtt: server('mqtt', mqtt, 'MQTT'),
    ...(mqtts !== undefined && { mqtts: server('secure-mqtt', mqtts, 'MQTT with TLS') }),
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
    ...(isMqtt && { protocolVersion: '3.1.1' }),
    description,
    variables: { host: { default: 'localhost', description: 'The name of the server.' } },
    security: [{ $ref: '#/components/securitySchemes/credential' }],
  }
}

function message(title: string, payload: Schema, example: unknown) {
  return { title, contentType: 'application/json', payload, examples: [{ payload: example }] }
}

function channel(
  address: string,
  description: string,
  parameters: Readonly<Record<string, ParameterObject>>,
  messages: readonly string[],
) {
  const subprotocol = { type: 'string', enum: ['mqtt', 'mqttv3.1'] }
  return {
    address,
    description,
    parameters,
    messages: Object.fromEntries(messages.map(name => [name, { $ref: `#/components/messages/${name}` }])),
    bindings: {
      ws: {
        method: 'GET',
        headers: {
          type: 'object',
          properties: { 'Sec-WebSocket-Protocol': subprotocol },
          required: ['Sec-WebSocket-Protocol'],
        },
        bindingVersion: '0.1.0',
      },
    },
  }
}

function operation(
  action: 'receive' | 'send',
  channel: string,
  message: string,
  summary: string,
  retain: boolean,
) {
  return {
    action,
    channel: { $ref: `#/channels/${channel}` },
    summary,
    messages: [{ $ref: `#/channels/${channel}/messages/${message}` }],
    bindings: { mqtt: { qos: 1, retain, bindingVersion: '0.2.0' } },
  }
}
