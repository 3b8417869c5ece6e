import assert from 'node:assert/strict'
import { catalogue, type Reason } from '../../src/errors.ts'
import type { Answer, ClientWrite, Door, Refusal, Thing } from './door.ts'

/** The members of an answer to a write that clients go by (contract §6). */
interface WriteResponse {
  readonly status: string
  readonly code?: number
  readonly reason?: Reason
  readonly message: string
  readonly errors?: readonly NamedRefusal[]
  readonly rejected?: readonly NamedRefusal[]
}

interface NamedRefusal extends Refusal {
  readonly message: string
}

/**
 * @param spelling where flags and the write id travel: in the query and Idempotency-Key, or as members of the body
 * wherever that is an object
 */
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
  const { body, options } = write
  if (typeof body === 'string' || body instanceof Uint8Array) return write
  return { body: { ...body, ...options } }
}

function request(url: string, { thingToken }: Thing, write: ClientWrite): [string, RequestInit] {
  const { body, options = {} } = write
  const { id, ...flags } = options
  const query = new URLSearchParams(
    Object.entries(flags).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const headers = id === undefined ? {} : { 'idempotency-key': id }
  return [
    `${url}/v2/things/${thingToken}${query.size === 0 ? '' : `?${query}`}`,
    { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: bytesOf(body) },
  ]
}

function bytesOf(body: ClientWrite['body']): Buffer {
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
  return errors ? { refused: reason, errors: errors.map(withoutMessage) } : { refused: reason }
}

function withoutMessage({ message, ...refusal }: NamedRefusal): Refusal {
  assert.notEqual(message, '')
  return refusal
}
