import assert from 'node:assert/strict'
import type { WriteOptions } from '../../src/core/parse.ts'
import { catalogue, type Reason } from '../../src/errors.ts'
import type { Thing } from '../helpers/http-client.ts'
import { type MqttWriter, type MqttWriterOptions, openMqttWriter } from './mqtt-writer.ts'
import type { Refusal, RefusedWrite } from './read-back.ts'
import type { Service } from './service.ts'

/** A write as a client means it; how flags and id travel is the door's affair. */
export interface ClientWrite {
  /** Where a write in another format goes (contract §2.4), such as `value/cellar/temperature`. */
  readonly format?: string
  /** An object is sent as its JSON; text and bytes as they are. */
  readonly body: object | string | Uint8Array
  readonly options?: WriteOptions
}

/** What a client learns of its write. */
export type Answer =
  | { readonly created: true; readonly rejected?: readonly Refusal[] }
  | { readonly refused: Reason; readonly errors?: readonly Refusal[] }

/** What the case table needs of a door. Records are read over HTTP, whichever door they came through. */
export interface Door {
  /** As the refused writes name it. */
  readonly kind: 'http' | 'mqtt'
  /** Resolves when the write is acknowledged. @throws if it neither was nor was refused for its content */
  write(thing: Thing, write: ClientWrite): Promise<Answer>
  close(): Promise<void>
}

type NamedRefusal = Refusal & { readonly message: string }

/** The members of an answer to a write that clients go by (contract §6). */
interface WriteResponse {
  readonly status: string
  readonly code?: number
  readonly reason?: Reason
  readonly message: string
  readonly errors?: readonly NamedRefusal[]
  readonly rejected?: readonly NamedRefusal[]
}

/** @param spelling where flags and write id travel: in query and Idempotency-Key, or as members of a body that is an object */
export function httpDoor(url: string, spelling: 'query' | 'body'): Door {
  return {
    kind: 'http',
    write: async (thing, write) => {
      const response = await fetch(
        ...request(url, thing, spelling === 'body' ? withOptionsInBody(write) : write),
      )
      const text = await response.text()
      assert(!text.includes(thing.thingToken), 'an answer must not hold the token')
      return readAnswer(response.status, JSON.parse(text) as WriteResponse)
    },
    close: async () => {},
  }
}

function withOptionsInBody(write: ClientWrite): ClientWrite {
  const { body, format, options } = write
  if (format !== undefined || typeof body === 'string' || body instanceof Uint8Array) return write
  return { body: { ...body, ...options } }
}

function request(url: string, { thingToken }: Thing, write: ClientWrite): [string, RequestInit] {
  const { id, ...flags } = write.options ?? {}
  const query = new URLSearchParams(
    Object.entries(flags).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const headers = id === undefined ? {} : { 'idempotency-key': id }
  const path = write.format === undefined ? '' : `/write/${write.format}`
  return [
    `${url}/v2/things/${thingToken}${path}${query.size === 0 ? '' : `?${query}`}`,
    { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: bytesOf(write) },
  ]
}

function bytesOf({ body }: ClientWrite): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function readAnswer(status: number, response: WriteResponse): Answer {
  const { reason, errors, rejected } = response
  if (status === 201) {
    assert.equal(response.status, 'created')
    return rejected ? { created: true, rejected: rejected.map(withoutMessage) } : { created: true }
  }
  assert(reason !== undefined && status < 500, `not an answer to a write: ${JSON.stringify(response)}`)
  assert.equal(response.status, 'error')
  assert.equal(response.code, status)
  assert.equal(status, catalogue[reason].status)
  assert.equal(typeof response.message, 'string')
  return refusedFor({ reason, ...(errors && { errors }) })
}

function refusedFor({ reason, errors }: Pick<RefusedWrite, 'reason' | 'errors'>): Answer {
  return errors ? { refused: reason, errors: errors.map(withoutMessage) } : { refused: reason }
}

function withoutMessage({ message, ...refusal }: NamedRefusal): Refusal {
  assert.notEqual(message, '')
  return refusal
}

/**
 * The MQTT door for the writes of one thing. Flags and the write id travel in the body: there is nowhere else. What a
 * client of this door cannot learn is which records of a `partial` write were refused.
 */
export function mqttDoor(service: Service, options: MqttWriterOptions): Door {
  let opened: Promise<MqttWriter> | undefined
  return {
    kind: 'mqtt',
    write: async (thing, write) => {
      opened ??= openMqttWriter(service, thing, options)
      const writer = await opened
      const spelled = withOptionsInBody(write)
      assert(spelled !== write || !write.options, 'options have no place beside a body that is no object')
      const refused = await writer.write(bytesOf(spelled), write.format)
      return refused ? refusedFor(refused) : { created: true }
    },
    close: async () => (await opened)?.close(),
  }
}
