import { catalogue } from '../../../src/errors.ts'
import { RawConnection } from '../../helpers/raw-connection.ts'
import { type HttpAnswer, readAnswers } from './answers.ts'
import { bytesOfParts, get, goodBody, type HttpCase, type Target, write } from './case.ts'
import { isRefusal, refusalProblems } from './refusal.ts'

/** Behind what, on its connection, a case is played. */
export type Setting = 'fresh' | 'behind a good request'

/** Whose answer is none that a case has. */
const probe = get('/v2/utils/date?thingToken=<other-token>&format=unix_timestamp')
const probeAnswer = /^\[\{"key":"date","value":\d+\}\]$/

/** Plays a case against a server. @returns what came back that should not have, or did not: empty if all is well */
export async function playCase(
  url: string,
  hostile: HttpCase,
  target: Target,
  setting: Setting,
): Promise<readonly string[]> {
  const connection = await RawConnection.open(url)
  try {
    const before = setting === 'fresh' ? 0 : 1
    if (before) {
      connection.send(bytesOfParts(write(goodBody), target))
      await answersOf(connection, before)
    }
    const sent = bytesOfParts(hostile.sends, target)
    connection.send(sent)
    if (hostile.outcome === 'half-closed') connection.socket.end()
    return await judge(connection, hostile, before, sent, target)
  } catch (error) {
    return [`${(error as Error).message}; received ${JSON.stringify(connection.text.slice(0, 300))}`]
  } finally {
    connection.socket.destroy()
  }
}

/** Resolves when there are so many answers, or the connection is closed. @throws Error past the deadline */
async function answersOf(connection: RawConnection, count: number): Promise<readonly HttpAnswer[]> {
  const answers = () => readAnswers(connection.text).answers
  await connection.until(() => connection.isClosed || answers().length >= count, `${count} answers`)
  return answers()
}

async function judge(
  connection: RawConnection,
  { answers: expected, outcome, headers = {} }: HttpCase,
  before: number,
  sent: Buffer,
  target: Target,
): Promise<readonly string[]> {
  const wanted = before + expected.length
  await answersOf(connection, wanted)
  const isOver = outcome !== 'open'
  if (isOver) await connection.closed()
  const seen = readAnswers(connection.text)
  const answers = seen.answers.slice(before)
  const told = answers.map(tell)
  const right = expected.map(answer => (typeof answer === 'number' ? `${answer}` : reportRefusal(answer)))
  const problems = told.join() === right.join() ? [] : [`answered ${told.join(', ') || 'nothing'}`]
  for (const answer of answers) problems.push(...refusalProblems(answer, sent, target))
  for (const [name, value] of Object.entries(headers)) {
    const actual = answers.at(-1)?.headers.get(name)
    if (actual !== value) problems.push(`${name} is ${actual}`)
  }
  if (problems.length > 0 || isOver) return problems
  if (seen.rest.length > 0) return [`bytes behind the answers: ${seen.rest.length}`]
  if (connection.isClosed) return ['closed the connection']
  // The connection is still one on which a request gets its own answer.
  connection.send(bytesOfParts(probe, target))
  const body = (await answersOf(connection, wanted + 1))[wanted]?.body
  return body !== undefined && probeAnswer.test(body)
    ? []
    : [`the next request was answered with ${body?.slice(0, 200) ?? 'nothing'}`]
}

/** Such as `400 bad_request`, or `201`. */
function tell(answer: HttpAnswer): string {
  if (!isRefusal(answer)) return `${answer.status}`
  const { reason } = JSON.parse(answer.body || '{}') as { reason?: unknown }
  return `${answer.status} ${reason}`
}

function reportRefusal(reason: keyof typeof catalogue): string {
  return `${catalogue[reason].status} ${reason}`
}
