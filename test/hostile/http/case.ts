import type { Reason } from '../../../src/errors.ts'
import type { Thing } from '../../helpers/http-client.ts'

/** Text is sent as Latin-1, one byte a character, once its placeholders are filled in (`Target`); bytes as they are. */
export type Part = string | Uint8Array

/** One input of the hostile table, as raw bytes, and what must come back. */
export interface HttpCase {
  /** Says what is wrong with it; no other case has it. */
  readonly name: string
  /** All of it, in one go. */
  readonly sends: readonly Part[]
  /**
   * In order: the reason of a refusal, in the one error shape and with the status of the catalogue, or the status of
   * any other answer.
   */
  readonly answers: readonly Answer[]
  /**
   * What becomes of the connection behind the answers. `open`: the server has to take the next request on it for what
   * it is; `closed`: by the server; `half-closed`: the client ends its half behind what it sends, then the server.
   */
  readonly outcome: 'open' | 'closed' | 'half-closed'
  /** What the last answer must have among its headers, by name in lower case; undefined: must not have. */
  readonly headers?: ExpectedHeaders
}

type Answer = Reason | number
type ExpectedHeaders = Readonly<Record<string, string | undefined>>
type Row = readonly [
  sends: Part | readonly Part[],
  answers: Answer | readonly Answer[],
  headers?: ExpectedHeaders,
]

/** The cases of a table, by name. */
export function rows(outcome: HttpCase['outcome'], table: Readonly<Record<string, Row>>): HttpCase[] {
  return Object.entries(table).map(([name, row]) => toCase(outcome, name, row))
}

/** Inputs by name, or texts that are named by themselves. */
type Inputs<Input> = Readonly<Record<string, Input>> | readonly Input[]
/** Inputs by what each of them is answered. */
export type Answered<Input> = Readonly<Partial<Record<Answer, Inputs<Input>>>>

/** A case of each input. @param named its name, with `*` in place of that of the input */
export function each<Input>(
  outcome: HttpCase['outcome'],
  named: string,
  inputs: Inputs<Input>,
  rowOf: (input: Input) => Row,
): HttpCase[] {
  const entries = Array.isArray(inputs)
    ? inputs.map((input: Input) => [`${input}`, input] as const)
    : Object.entries<Input>(inputs)
  return entries.map(([name, input]) => {
    const own = named.replace('*', () => name.slice(0, 60))
    return toCase(outcome, own, rowOf(input))
  })
}

/** As `each`, of a connection that stays open. */
export function answered<Input>(
  named: string,
  groups: Answered<Input>,
  sendsOf: (input: Input) => Row[0],
): HttpCase[] {
  return Object.entries(groups).flatMap(([answer, inputs = []]) =>
    each('open', named, inputs, input => [sendsOf(input), Number(answer) || (answer as Reason)]),
  )
}

function toCase(outcome: HttpCase['outcome'], name: string, [sends, answers, headers = {}]: Row): HttpCase {
  return {
    name,
    sends: typeof sends === 'string' || sends instanceof Uint8Array ? [sends] : sends,
    answers: typeof answers === 'string' || typeof answers === 'number' ? [answers] : answers,
    outcome,
    headers,
  }
}

/** What stands for the placeholders `<token>`, `<id>`, `<other-token>`, `<other-id>` and `<admin-key>`. */
export interface Target {
  /** A thing whom nobody minds. */
  readonly thing: Thing
  readonly other: Thing
  readonly adminKey: string
}

/** The only origin whose pages may call the server of the table. */
export const allowedOrigin = 'https://dashboard.example'

/** The head of a request, with the empty line behind it. */
export function head(...lines: readonly string[]): string {
  return [...lines, '', ''].join('\r\n')
}

/** A good write of one record, which others are made from. */
export const goodBody = '{"values":[{"key":"hostile","value":1}]}'

/** A write with this body and these headers, its length announced as it is. */
export function write(body: Part, ...headers: readonly string[]): readonly Part[] {
  return [
    head('POST /v2/things/<token> HTTP/1.1', 'Host: a', ...headers, `Content-Length: ${body.length}`),
    body,
  ]
}

/** A request without a body. */
export function get(path: string, ...headers: readonly string[]): readonly Part[] {
  return [head(`GET ${path} HTTP/1.1`, 'Host: a', ...headers)]
}

/** The bytes that go over the wire. */
export function bytesOfParts(parts: readonly Part[], target: Target): Buffer {
  return Buffer.concat(
    parts.map(part => (typeof part === 'string' ? Buffer.from(fill(part, target), 'latin1') : part)),
  )
}

function fill(text: string, { thing, other, adminKey }: Target): string {
  return text
    .replaceAll('<token>', thing.thingToken)
    .replaceAll('<id>', thing.thingId)
    .replaceAll('<other-token>', other.thingToken)
    .replaceAll('<other-id>', other.thingId)
    .replaceAll('<admin-key>', adminKey)
}
