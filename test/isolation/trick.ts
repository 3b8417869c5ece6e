import type { QoS } from 'mqtt-packet'
import type { Reason } from '../../src/errors.ts'
import type { Word } from './cast.ts'

/**
 * What someone tries who has no right to it. In texts `<word>` stands for what the cast knows under that word, so that
 * no secret gets into a table or a test's name: `things/<victim>/write`.
 */
export interface Trick {
  readonly name: string
  /** Whose credential is presented: `Authorization: Bearer`, the password. `nobody`: none, the default. */
  readonly as?: Word | 'nobody'
}

type HttpAnswerText = `${400 | 401 | 403 | 404} ${Reason}` | 200 | 201

/** A request over HTTP, sent as it is spelled. */
export interface HttpTrick extends Trick {
  /** Method and path. */
  readonly request: string
  readonly headers?: Readonly<Record<string, string>>
  /** Default for POST and PATCH: a write that no one but its maker may ever see. */
  readonly body?: object
  readonly answer: HttpAnswerText
}

/** A CONNECT. */
export interface ConnectTrick extends Trick {
  readonly username?: string
  readonly password?: string
  readonly clientId?: string
  /** Default true. */
  readonly clean?: boolean
  readonly will?: { readonly topic: string; readonly retain?: boolean }
  /** The return code of CONNACK (contract §7). */
  readonly connack: 4 | 5
}

/** A CONNECT that is let in, under a client id that somebody else has or might be taken for. */
export interface TakeoverTrick extends Trick {
  readonly clientId: string
}

/** One SUBSCRIBE, and the victim's next messages. */
export interface SubscribeTrick extends Trick {
  readonly filters: readonly string[]
  /** What SUBACK must say of each, at QoS 1. */
  readonly granted: readonly number[]
}

type PublishAnswer = 'closed' | 'reported' | 'dropped' | 'written'

/** One PUBLISH. */
export interface PublishTrick extends Trick {
  readonly topic: string
  /** Default 1. */
  readonly qos?: QoS
  readonly retain?: boolean
  /** Default: a write that no one but its maker may ever see. */
  readonly payload?: string
  /**
   * `closed`: without an ack; `reported`: acked, dropped and told on the attacker's own thing as `not_a_write_topic`;
   * `dropped`: acked, and told on no thing; `written`: acked, and a record of the attacker's own thing, nothing else.
   */
  readonly answer: PublishAnswer
}

type Rows<Row> = Readonly<Record<string, Row>>
type Rest<Kind, Given extends keyof Kind> = Omit<Kind, 'name' | Given> & Partial<Pick<Kind, Given>>

/** Requests by name, of one credential and one answer. */
export function requests(
  as: Word | 'nobody',
  answer: HttpAnswerText,
  rows: Rows<string | Rest<HttpTrick, 'as' | 'answer'>>,
): HttpTrick[] {
  return named(rows, row => ({ as, answer, ...(typeof row === 'string' ? { request: row } : row) }))
}

/** Credentials by name, of one request and one answer. */
export function presented(request: string, answer: HttpAnswerText, rows: Rows<Word>): HttpTrick[] {
  return named(rows, as => ({ request, answer, as }))
}

/** CONNECTs by name, of one return code; a word alone is the password. */
export function connects(
  connack: ConnectTrick['connack'],
  rows: Rows<Word | Rest<ConnectTrick, 'connack'>>,
): ConnectTrick[] {
  return named(rows, row => ({ connack, ...(typeof row === 'string' ? { as: row } : row) }))
}

/** Wills by name, of one credential; a text alone is the topic. */
export function wills(
  as: Word | 'nobody',
  rows: Rows<string | Rest<ConnectTrick, 'as' | 'connack'>>,
): ConnectTrick[] {
  return named(rows, row => ({
    as,
    connack: 5,
    ...(typeof row === 'string' ? { will: { topic: row } } : row),
  }))
}

/** Client ids by name, of one credential. */
export function takeovers(as: Word | 'nobody', rows: Rows<string>): TakeoverTrick[] {
  return named(rows, clientId => ({ as, clientId }))
}

/** PUBLISHes by name, of one credential and one answer; a text alone is the topic. */
export function publishes(
  as: Word | 'nobody',
  answer: PublishAnswer,
  rows: Rows<string | Rest<PublishTrick, 'as' | 'answer'>>,
): PublishTrick[] {
  return named(rows, row => ({ as, answer, ...(typeof row === 'string' ? { topic: row } : row) }))
}

/** Filters by name, of one credential, that SUBACK must refuse. */
export function refusedFilters(as: Word | 'nobody', rows: Rows<string>): SubscribeTrick[] {
  return named(rows, filter => ({ as, filters: [filter], granted: [128] }))
}

/** SUBSCRIBEs by name, of one credential and one SUBACK; a text alone is the one filter. */
export function subscribes(
  as: Word | 'nobody',
  granted: readonly number[],
  rows: Rows<string | readonly string[]>,
): SubscribeTrick[] {
  return named(rows, row => ({ as, granted, filters: typeof row === 'string' ? [row] : row }))
}

function named<Row, Kind extends object>(rows: Rows<Row>, kind: (row: Row) => Kind) {
  return Object.entries(rows).map(([name, row]) => ({ name, ...kind(row) }))
}
