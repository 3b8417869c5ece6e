import { catalogue } from '../../../src/errors.ts'
import type { HttpAnswer } from './answers.ts'
import type { Target } from './case.ts'

export function isRefusal({ status }: HttpAnswer): boolean {
  return status >= 400
}

/** Words of the interface itself, parts of which an answer may well contain. */
const ownWords = [
  ...Object.values(catalogue).map(({ text }) => text),
  'things resources all_resources aggregates errors sessions utils admin tokens activation-codes backup healthz readyz metrics',
  'thingToken unix_timestamp startDate endDate datetime YYYYMMDDHHmmss keepAlive aggregate interval points Europe Madrid broadcast partial',
  'application format',
].join(' ')

/** Shorter ones may be in any text. */
const shortestEcho = 6

/**
 * What of contract §6 an answer breaks: one error shape, no 5xx but 503, a length, a body, no secret, and in a refusal
 * nothing of the path.
 *
 * @param sent all that the client had sent
 */
export function refusalProblems(answer: HttpAnswer, sent: Buffer, target: Target): string[] {
  const { status, headers, text } = answer
  if (status < 200) return []
  const problems: string[] = []
  if (status >= 500 && status !== 503) problems.push(`a ${status}`)
  if (answer.body.length === 0) problems.push('an empty body')
  if (text.slice(0, text.indexOf('\r\n\r\n')).includes('{')) problems.push('a header with a brace')
  // A success may hold the path that was asked for, in `Link`.
  const isForeign = (secret: string) => isRefusal(answer) || !sent.includes(secret)
  const secrets = [target.thing.thingToken, target.other.thingToken, target.adminKey]
  if (secrets.some(secret => isForeign(secret) && text.includes(secret)))
    problems.push('a secret in the answer')
  if (!isRefusal(answer)) return problems
  problems.push(...shapeProblems(answer))
  if (!headers.has('content-length')) problems.push('no Content-Length')
  if ((status === 503 || status === 429) && !headers.has('retry-after')) problems.push('no Retry-After')
  // Neither names of headers nor quotes around JSON, which may be in what a client sends as a path.
  const said = [...headers.values(), ...textsIn(parse(answer.body))].join('\n')
  for (const echo of pathsIn(sent)) {
    if (said.includes(echo)) problems.push(`the path is echoed: ${echo.slice(0, 60)}`)
  }
  return problems
}

function shapeProblems({ status, headers, body }: HttpAnswer): string[] {
  const type = headers.get('content-type')
  if (type !== 'application/json') return [`a refusal as ${type}`]
  const { status: word, code, reason, message, errors, ...others } = parse(body)
  const catalogued = catalogue[reason as keyof typeof catalogue]
  const isRight =
    word === 'error' &&
    code === status &&
    typeof message === 'string' &&
    message !== '' &&
    (errors === undefined || Array.isArray(errors)) &&
    Object.keys(others).length === 0
  if (!isRight || !catalogued) return [`another shape: ${body.slice(0, 200)}`]
  return catalogued.status === status ? [] : [`${status} for ${reason}`]
}

function parse(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** The strings of a JSON value, with the names of its members. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return Object.entries(value ?? {}).flatMap(([name, member]) => [name, ...textsIn(member)])
}

/** The parts of the paths and the values of the queries of all requests in the bytes, as they are and decoded. */
function pathsIn(sent: Buffer): Set<string> {
  const echoes = new Set<string>()
  for (const [, target = ''] of sent.toString('latin1').matchAll(/^[A-Za-z]+[ \t]+(\S+)/gm)) {
    const [path = '', query = ''] = target.split(/\?(.*)/s)
    // A refusal names a parameter that is unknown (contract §3), and such a name may hold a part of the path.
    const parameters = query.split('&').map(parameter => parameter.split(/=(.*)/s))
    const names = parameters.flatMap(([name = '']) => [name, decode(name)])
    const values = parameters.flatMap(parameter => parameter.slice(1, 2))
    for (const part of [...path.split('/'), ...values].flatMap(part => [part, decode(part)])) {
      const isNamed = names.some(name => name.includes(part))
      if (part.length >= shortestEcho && !ownWords.includes(part) && !isNamed) echoes.add(part)
    }
  }
  return echoes
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
