import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect } from 'vitest'
import { credentialOf, spell } from './cast.ts'
import { victimsMark } from './neighbour.ts'
import type { HttpTrick } from './trick.ts'
import { forgery, type World } from './world.ts'

/** Milliseconds for one request. */
const deadline = 20_000

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** The answer must be to the letter, and tell nothing of the victim; the victim must go on. */
export async function runHttp(world: World, trick: HttpTrick): Promise<void> {
  const { cast, neighbour } = world
  const answer = await ask(world, trick)
  const told = `${answer.text} ${JSON.stringify(answer.headers)}`
  expect(told).not.toContain(victimsMark)
  for (const secret of [cast.victim.thingToken, world.server.adminKey, ...world.secrets]) {
    // Not toContain, which would print it.
    expect(told.includes(secret)).toBe(false)
  }
  if (typeof trick.answer === 'number') expect(answer).toMatchObject({ status: trick.answer })
  else expectError(answer, trick.answer)
  await neighbour.probe()
}

/** Sends a path as it is spelled: no client library would. */
export async function ask(
  { server, cast }: Pick<World, 'server' | 'cast'>,
  { name, request: line, as, headers = {}, body }: Omit<HttpTrick, 'answer'>,
): Promise<HttpAnswer> {
  const { hostname, port } = new URL(server.url)
  const [method = '', path = ''] = line.split(/ (.*)/s)
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
  sent.end(takesBody ? spell(cast, JSON.stringify(body ?? forgery(name))) : undefined)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.setEncoding('utf8')
  let text = ''
  for await (const part of response) text += part
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}

function expectError({ status, headers, text }: HttpAnswer, answer: string): void {
  const [code, reason] = answer.split(' ')
  // HEAD has no body.
  const error = text === '' ? { code: status } : (JSON.parse(text) as object)
  expect({ httpStatus: status, ...error }).toMatchObject({
    httpStatus: Number(code),
    code: Number(code),
    ...(text !== '' && { status: 'error', reason, message: expect.any(String) }),
  })
  expect(headers['content-type']).toMatch(/^application\/json/)
}
