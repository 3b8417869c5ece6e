import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type ChildLoggerOptions, type Logger, pino } from 'pino'
import { printable } from '../../core/json/printable.ts'
import { Redactor } from '../../core/refusals/redactor.ts'
import { ThingwireError } from '../../errors.ts'
import type { ServerOptions } from '../options/options.ts'

interface SampledLogger extends Logger {
  /** Logs how many lines were suppressed since the last report. Call this when the process ends. */
  reportHeldBack(): void
}

/**
 * The log on stderr: JSON lines, or readable lines on a terminal. Contains no secrets (contract §1.1): headers and bodies are not
 * logged, errors are redacted, and paths lose their query and long segments, which may be thing tokens. A flood cannot fill the
 * log: five lines of a kind are written per minute, then one line with `suppressed`, the number of lines that were left out.
 *
 * @param setup `adminKey`: the configured key; `period`: milliseconds, for a test. Default: a minute
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

/** Writes a JSON line in readable form, such as `09:30:15 warn the store is short of space free=1024`. */
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
  /** Milliseconds since 1970. */
  readonly time: number
  readonly msg?: string
}

/** The levels that are sampled. An operator who enables `debug` or `trace` wants all lines, and `fatal` lines are rare. */
const sampledLevels: Readonly<Record<number, 'info' | 'warn' | 'error'>> = {
  30: 'info',
  40: 'warn',
  50: 'error',
}

/** The text of a line. For a line with only an error, the error's name, since the message may be different each time. */
function kindOf(line: readonly unknown[]): string {
  const [first, text] = line
  if (typeof first === 'string') return first
  if (typeof text === 'string') return text
  const error = first instanceof Error ? first : (first as { err?: unknown } | undefined)?.err
  return error instanceof Error ? error.name : ''
}

/** Logs a line for each finished request, only at `debug`: a line for each write would wear out an SD card. */
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
    // Building a line that is not written would cost as much as parsing the body.
    const { level } = this.#log
    if (!error && level !== 'debug' && level !== 'trace') return
    const milliseconds = Math.round(reply.elapsedTime)
    const line = { ...requestSummary(request, this.#redactor), status: reply.statusCode, milliseconds }
    if (error) request.log.warn({ ...line, err: error }, 'request interrupted')
    else request.log.debug(line, 'request')
  }

  /** Does nothing, because Fastify's method would log the URL. */
  override routeNotFound(): void {}
}

/** The log of one request. Creates the child logger at the first line, because most requests log no line. */
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

/** A path segment with more characters than this is redacted. A thing id has 16; a longer segment may be part of a token. */
const longestSegment = 20
/** Maximum number of logged characters of a path, of an error message and of a stack. A client could send 16 KiB. */
const longestPath = 200
const longestText = 1_000
const longestStack = 4_000

/** The path without its query. Every segment that may contain a token is redacted. */
export function redactPath(url: string, redactor: Redactor): string {
  const [path = ''] = url.split('?', 1)
  // Redacts the path before it is split, because an admin key may contain slashes.
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
 * The fields of an error that are safe to log. Other fields, such as Node's `rawPacket`, contain the request. The stack is left out
 * if the store is unavailable or the server is stopping: such an error is not a defect, and may be logged many times.
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

/** Maximum number of lines of one kind (level and text) that are written in a period. */
const writtenPerKind = 5
/** Milliseconds. */
const defaultPeriod = 60_000
/** Maximum number of kinds that are counted separately in a period; all further kinds of a level are counted as one kind. */
const maximumKinds = 64

export interface HeldBack {
  /** A pino level, for example 30 for `info`. */
  readonly level: number
  readonly kind: string
  readonly suppressed: number
}

interface Kind {
  readonly level: number
  readonly kind: string
  lines: number
}

/** Admits the first five lines of each kind in a period, and counts the others. Uses bounded memory. */
export class LogSampling {
  readonly #report: (heldBack: HeldBack) => void
  readonly #period: number
  readonly #kinds = new Map<string, Kind>()
  #end: NodeJS.Timeout | undefined

  /** @param report called at the end of a period for each kind with suppressed lines @param period milliseconds, for a test */
  constructor(report: (heldBack: HeldBack) => void, period = defaultPeriod) {
    this.#report = report
    this.#period = period
  }

  /** Counts a line. @returns whether it should be written */
  admits(level: number, kind: string): boolean {
    this.#end ??= setTimeout(() => this.endPeriod(), this.#period).unref()
    const known = this.#kinds.get(`${level} ${kind}`) ?? this.#newKind(level, kind)
    known.lines++
    return known.lines <= writtenPerKind
  }

  /** Reports the suppressed lines, and begins a new period. */
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

/** Beginning of all ids of this process. Each process has a different beginning. */
const run = randomBytes(5).toString('hex')
let requests = 0
let connections = 0

const wellFormed = /^[\w.-]{1,64}$/

/** The id in all log lines of a request: its `X-Request-Id` if that is well formed and not a credential, else a new id. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>, redactor: Redactor): string {
  const given = headers['x-request-id']
  if (typeof given === 'string' && wellFormed.test(given) && redactor.redact(given) === given) return given
  return `${run}-${(++requests).toString(36)}`
}

/** The id of an MQTT connection in all of its log lines. */
export function newConnectionId(): string {
  return `${run}-c${(++connections).toString(36)}`
}
