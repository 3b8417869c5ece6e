import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type ChildLoggerOptions, type Logger, pino } from 'pino'
import { printable } from '../../core/json/printable.ts'
import { Redactor } from '../../core/refusals/redactor.ts'
import { ThingwireError } from '../../errors.ts'
import type { ServerOptions } from '../options/options.ts'

/** A log that a flood does not fill. */
interface SampledLogger extends Logger {
  /** Writes the count of lines held back since it was last logged; for the end of the process. */
  reportHeldBack(): void
}

/**
 * The log on stderr: JSON lines, or on a terminal lines for people. No secret gets into it (contract §1): a thing token is part of the path, so paths
 * are logged without long segments and without query, headers and bodies not at all, and errors are scrubbed. Nobody
 * can fill it either: of the lines with one text, from `info` to `error`, the first five a minute are written, and
 * then one with the text and `suppressed`, the number of the others.
 *
 * @param setup `adminKey`: the configured one; `period`: in the place of the minute, milliseconds, for a test
 */
export function createLogger(
  level: ServerOptions['logLevel'],
  { adminKey, period }: { readonly adminKey?: string | undefined; readonly period?: number } = {},
): SampledLogger {
  const destination = process.stderr.isTTY ? new LinesForPeople() : pino.destination(2)
  const redactor = new Redactor(adminKey)
  let isReporting = false
  const sampling = new LogSampling(({ kind, suppressed, ...heldBack }) => {
    isReporting = true
    log[sampledLevels[heldBack.level] ?? 'error']({ suppressed }, kind)
    isReporting = false
  }, period)
  const log = pino(
    {
      level,
      serializers: {
        err: (error: unknown) => errorSummary(error, redactor),
        req: (request: FastifyRequest) => requestSummary(request, redactor),
      },
      hooks: {
        logMethod(line, write, level) {
          const isSampled = level in sampledLevels && !isReporting
          if (!isSampled || sampling.admits(level, kindOf(line))) write.apply(this, line)
        },
      },
    },
    destination,
  )
  const reportHeldBack = () => {
    sampling.endPeriod()
    destination.flushSync()
  }
  return Object.assign(log, { reportHeldBack })
}

/** Makes `09:30:15 warn the store is short of space free=1024` of a line of JSON. */
class LinesForPeople {
  write(json: string): void {
    const { level, time, pid: _pid, hostname: _hostname, msg, ...others } = JSON.parse(json) as LogLine
    const details = Object.entries(others).map(
      ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    const clock = new Date(time).toTimeString().slice(0, 8)
    const text = `${clock} ${pino.levels.labels[level]} ${msg ?? ''}${details.join('')}`
    process.stderr.write(`${printable(text)}\n`)
  }

  flushSync(): void {}
}

interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: number
  /** Milliseconds. */
  readonly time: number
  readonly msg?: string
}

/** Who turns `debug` on wants to see all, and after `fatal` there is nothing more. */
const sampledLevels: Readonly<Record<number, 'info' | 'warn' | 'error'>> = {
  30: 'info',
  40: 'warn',
  50: 'error',
}

/** The text of a line, which is one of a few; without one the name of its error, whose text is anything. */
function kindOf(line: readonly unknown[]): string {
  const [first, text] = line
  if (typeof first === 'string') return first
  if (typeof text === 'string') return text
  const error = first instanceof Error ? first : (first as { err?: unknown } | undefined)?.err
  return error instanceof Error ? error.name : ''
}

/** One line per request, when it is over. At `debug`: a line per write wears out an SD card. */
export class RequestLog extends LogController {
  readonly #log: Pick<FastifyBaseLogger, 'level'>
  readonly #redactor: Redactor

  constructor(log: Pick<FastifyBaseLogger, 'level'>, redactor: Redactor) {
    super({ requestIdLogLabel: 'requestId' })
    this.#log = log
    this.#redactor = redactor
  }

  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    // A line that nobody reads costs as much as the parsing of the body.
    const { level } = this.#log
    if (!error && level !== 'debug' && level !== 'trace') return
    const milliseconds = Math.round(reply.elapsedTime)
    const line = { ...requestSummary(request, this.#redactor), status: reply.statusCode, milliseconds }
    if (error) request.log.warn({ ...line, err: error }, 'request broken off')
    else request.log.debug(line, 'request')
  }

  /** The one of Fastify prints the URL. */
  override routeNotFound(): void {}
}

/** The log of one request, made when there is something to say: for most there is nothing. */
export class LogOfRequest implements FastifyBaseLogger {
  readonly #make: () => FastifyBaseLogger
  #made: FastifyBaseLogger | undefined

  constructor(log: FastifyBaseLogger, bindings: object, options: ChildLoggerOptions) {
    this.#make = () => log.child(bindings, options)
  }

  get level(): string {
    return this.#log.level
  }

  child(...of: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#log.child(...of)
  }

  fatal(...line: unknown[]): void {
    this.#say('fatal', line)
  }

  error(...line: unknown[]): void {
    this.#say('error', line)
  }

  warn(...line: unknown[]): void {
    this.#say('warn', line)
  }

  info(...line: unknown[]): void {
    this.#say('info', line)
  }

  debug(...line: unknown[]): void {
    this.#say('debug', line)
  }

  trace(...line: unknown[]): void {
    this.#say('trace', line)
  }

  silent(...line: unknown[]): void {
    this.#say('silent', line)
  }

  #say(level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent', line: unknown[]): void {
    const say: (...line: unknown[]) => void = this.#log[level]
    say.apply(this.#log, line)
  }

  get #log(): FastifyBaseLogger {
    this.#made ??= this.#make()
    return this.#made
  }
}

/** Of a path: a thing id has 16. Longer ones may be as much of a token as gives it away. */
const longestSegment = 20
/** Characters of a path, of an error's text and of its stack that are logged: a request may hold 16 KiB of them. */
const longestPath = 200
const longestText = 1_000
const longestStack = 4_000

/** Path without what may be a secret: the query, and every segment that is longer than a thing id, however encoded. */
export function redactPath(url: string, redactor: Redactor): string {
  const [path = ''] = url.split('?', 1)
  // First the admin key, which may have slashes.
  return redactor
    .redact(path, longestPath)
    .split('/')
    .map(segment => (segment.length > longestSegment ? '[redacted]' : segment))
    .join('/')
}

function requestSummary(request: FastifyRequest, redactor: Redactor): object {
  return { method: request.method, path: redactPath(request.url, redactor), address: request.ip }
}

/**
 * Only what is known to be safe: other fields of an error, such as Node's `rawPacket`, hold the request. Without stacks where
 * the store is away or the server stops: that is no defect, and is logged many times.
 */
export function errorSummary(error: unknown, redactor: Redactor, withStack = !isOutage(error)): object {
  if (!(error instanceof Error)) return { message: redactor.redact(String(error), longestText) }
  const { code, reason } = error as { code?: unknown; reason?: unknown }
  return {
    type: error.name,
    ...(typeof code === 'string' && { code }),
    ...(typeof reason === 'string' && { reason }),
    message: redactor.redact(error.message, longestText),
    ...(withStack && { stack: redactor.redact(error.stack ?? '', longestStack) }),
    ...(error.cause !== undefined && { cause: errorSummary(error.cause, redactor, withStack) }),
  }
}

function isOutage(error: unknown): boolean {
  return error instanceof ThingwireError && error.status === 503
}

/** Lines of one kind that are written in a period. */
const writtenPerKind = 5
/** Milliseconds. */
const defaultPeriod = 60_000
/** Kinds that are counted apart in a period; lines of further ones are one kind together. */
const maximumKinds = 64

/** Lines of one kind that were not written. */
export interface HeldBack {
  /** As pino counts levels: 30 is `info`, 50 is `error`. */
  readonly level: number
  readonly kind: string
  readonly suppressed: number
}

interface Kind {
  readonly level: number
  readonly kind: string
  lines: number
}

/**
 * What keeps a log from being filled by who sends much that is worth a line: of each kind of line the first five a
 * minute are written, the others counted. Memory is bounded, whatever is logged.
 */
export class LogSampling {
  readonly #report: (heldBack: HeldBack) => void
  readonly #period: number
  readonly #kinds = new Map<string, Kind>()
  #end: NodeJS.Timeout | undefined

  /**
   * @param report called at the end of a minute for each kind of which lines were held back
   * @param period milliseconds, for a test
   */
  constructor(report: (heldBack: HeldBack) => void, period = defaultPeriod) {
    this.#report = report
    this.#period = period
  }

  /** @returns whether a line is to be written; else it is counted */
  admits(level: number, kind: string): boolean {
    this.#end ??= setTimeout(() => this.endPeriod(), this.#period).unref()
    const known = this.#kinds.get(`${level} ${kind}`) ?? this.#newKind(level, kind)
    known.lines++
    return known.lines <= writtenPerKind
  }

  /** Reports what was held back so far, and begins anew. */
  endPeriod(): void {
    clearTimeout(this.#end)
    this.#end = undefined
    const kinds = [...this.#kinds.values()]
    this.#kinds.clear()
    for (const { level, kind, lines } of kinds) {
      if (lines > writtenPerKind) this.#report({ level, kind, suppressed: lines - writtenPerKind })
    }
  }

  #newKind(level: number, kind: string): Kind {
    const isKept = this.#kinds.size < maximumKinds
    const made = { level, kind: isKept ? kind : 'lines of other kinds', lines: 0 }
    const name = `${level} ${made.kind}`
    const known = this.#kinds.get(name)
    if (known) return known
    this.#kinds.set(name, made)
    return made
  }
}

/** An id that distinguishes the lines of this process from those of others. */
const run = randomBytes(5).toString('hex')
let requests = 0
let connections = 0

const wellFormed = /^[\w.-]{1,64}$/

/**
 * The id of a request, in all of its lines: its `X-Request-Id` if that is well formed and could be no credential, else one of
 * this process.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>, redactor: Redactor): string {
  const given = headers['x-request-id']
  if (typeof given === 'string' && wellFormed.test(given) && redactor.redact(given) === given) return given
  return `${run}-${(++requests).toString(36)}`
}

/** The id of an MQTT connection, in all of its lines. */
export function newConnectionId(): string {
  return `${run}-c${(++connections).toString(36)}`
}
