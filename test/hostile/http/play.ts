import { catalogue } from '../../../src/errors.ts'
import type { HttpAnswer } from './answers.ts'
import { readAnswers } from './answers.ts'
import { bytesOfParts, get, goodBody, type HttpCase, secretsOf, type Target, write } from './case.ts'
import { RawConnection } from './connection.ts'
import { isRefusal, refusalProblems } from './refusal.ts'

/** Behind what, on its connection, a case is played. */
export type Setting = 'fresh' | 'behind a good request'

const goodRequest: HttpCase = {
  name: 'a good write',
  sends: write(goodBody),
  answers: [201],
  outcome: 'open',
}
/** Whose answer is none that a case has. */
const probe: HttpCase = {
  name: 'the next request',
  sends: get('/v2/utils/date?thingToken=<other-token>&format=unix_timestamp'),
  answers: [200],
  outcome: 'open',
}
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
      connection.send(bytesOfParts(goodRequest.sends, target))
      await connection.answers(before)
    }
    const sent = bytesOfParts(hostile.sends, target)
    connection.send(sent)
    if (hostile.outcome === 'half-closed') connection.end()
    return await judge(connection, hostile, before, { sent, secrets: secretsOf(target), target })
  } catch (error) {
    const received = connection.received.toString('latin1').slice(0, 300)
    return [`${(error as Error).message}; received ${JSON.stringify(received)}`]
  } finally {
    connection.destroy()
  }
}

interface Sent {
  readonly sent: Buffer
  readonly secrets: readonly string[]
  readonly target: Target
}

async function judge(
  connection: RawConnection,
  { answers: expected, outcome, headers = {} }: HttpCase,
  before: number,
  { sent, secrets, target }: Sent,
): Promise<readonly string[]> {
  const wanted = before + expected.length
  await connection.answers(wanted)
  const isOver = outcome !== 'open'
  if (isOver) await connection.closed()
  const seen = readAnswers(connection.received)
  const answers = seen.answers.slice(before)
  const told = answers.map(tell)
  const right = expected.map(answer => (typeof answer === 'number' ? `${answer}` : reportRefusal(answer)))
  const problems = told.join() === right.join() ? [] : [`answered ${told.join(', ') || 'nothing'}`]
  for (const answer of answers) problems.push(...refusalProblems(answer, sent, secrets))
  for (const [name, value] of Object.entries(headers)) {
    const actual = answers.at(-1)?.headers.get(name)
    if (actual !== value) problems.push(`${name} is ${actual}`)
  }
  if (problems.length > 0 || isOver) return problems
  if (seen.rest.length > 0) return [`bytes behind the answers: ${seen.rest.length}`]
  return await probeProblems(connection, wanted, target)
}

/** The connection is still one on which a request gets its own answer. */
async function probeProblems(connection: RawConnection, before: number, target: Target): Promise<string[]> {
  if (connection.isClosed) return ['closed the connection']
  connection.send(bytesOfParts(probe.sends, target))
  const { body } = (await connection.answers(before + 1))[before] ?? {}
  if (body && probeAnswer.test(body.toString())) return []
  return [`the next request was answered with ${body?.toString().slice(0, 200) ?? 'nothing'}`]
}

/** Such as `400 bad_request`, or `201`. */
function tell(answer: HttpAnswer): string {
  if (!isRefusal(answer)) return `${answer.status}`
  const { reason } = JSON.parse(answer.body.toString() || '{}') as { reason?: unknown }
  return `${answer.status} ${reason}`
}

function reportRefusal(reason: keyof typeof catalogue): string {
  return `${catalogue[reason].status} ${reason}`
}
