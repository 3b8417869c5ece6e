import { expect } from 'vitest'
import type { Reason } from '../../src/errors.ts'
import { victimsMark, type Who, type Word } from './cast.ts'
import { ask, forgery, type HttpAnswer, type HttpRequest } from './clients.ts'
import type { IsolationTests, World } from './world.ts'

type AnswerText = `${400 | 401 | 403 | 404} ${Reason}` | 200 | 201

type Rows<Row> = Readonly<Record<string, Row>>

/** Tables of what someone tries over HTTP who has no right to it; each row is a test. */
export function httpTables({ http }: Pick<IsolationTests, 'http'>) {
  const add = (name: string, trick: HttpRequest & { readonly answer: AnswerText }) =>
    http(name, world => expectAnswer(world, { body: forgery(name), ...trick }), trick)
  return {
    /** Requests by name, of one credential and one answer. */
    requests(as: Who, answer: AnswerText, rows: Rows<string | Omit<HttpRequest, 'as'>>): void {
      for (const [name, row] of Object.entries(rows))
        add(name, { as, answer, ...(typeof row === 'string' ? { request: row } : row) })
    },
    /** Headers by name, of one request, one credential and one answer. */
    headed(as: Who, request: string, answer: AnswerText, rows: Rows<Readonly<Record<string, string>>>): void {
      for (const [name, headers] of Object.entries(rows)) add(name, { as, request, answer, headers })
    },
    /** Credentials by name, of one request and one answer. */
    presented(request: string, answer: AnswerText, rows: Rows<Word>): void {
      for (const [name, as] of Object.entries(rows)) add(name, { request, answer, as })
    },
  }
}

/** The answer must be to the letter, and show nothing of the victim. */
async function expectAnswer(
  world: World,
  trick: HttpRequest & { readonly answer: AnswerText },
): Promise<void> {
  const answer = await ask(world, trick)
  const shown = `${answer.text} ${JSON.stringify(answer.headers)}`
  expect(shown).not.toContain(victimsMark)
  // Not toContain, which would print it.
  for (const secret of world.secrets) expect(shown.includes(secret)).toBe(false)
  if (typeof trick.answer === 'number') expect(answer).toMatchObject({ status: trick.answer })
  else expectError(answer, trick.answer)
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
