import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type ChildLoggerOptions, type Logger, pino } from 'pino'
import { printable } from '../../core/json/printable.ts'
import { Redactor } from '../../core/refusals/redactor.ts'
import { ThingwireError } from '../../errors.ts'
import type { ServerOptions } from '../options/options.ts'

interface SampledLogger extends Logger {
  /** Logs how many lines were suppressed since the last report. Call it when the process ends. */
  reportHeldBack(): void
}

/**
 * The log on stderr: JSON lines, or readable lines on a terminal. It has no secrets (contract §1.1): paths lose their query and
 * long segments, which may be thing tokens; headers and bodies are not logged; errors are redacted. A flood cannot fill it: of the
 * lines of one kind, from `info` to `error`, five a minute are written, then one with `suppressed`, the number of lines left out.
 *
 * @param setup `adminKey`: the configured key; `period`: milliseconds instead of the minute, for a test
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

/** Writes a JSON line as `09:30:15 warn the store is short of space free=1024`. */
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

/** Lines at `debug` are not sampled, because the operator asked for all; nor is a line at `fatal`, since it is the last. */
const sampledLevels: Readonly<Record<number, 'info' | 'warn' | 'error'>> = {
  30: 'info',
  40: 'warn',
  50: 'error',
}

/** The text of a line, which is a constant; or the name of its error, since the text of an error may be anything. */
function kindOf(line: readonly unknown[]): string {
  const [first, text] = line
  if (typeof first === 'string') return first
  if (typeof text === 'string') return text
  const error = first instanceof Error ? first : (first as { err?: unknown } | undefined)?.err
  return error instanceof Error ? error.name : ''
}

/** Logs one line for each request when it ends, at `debug`: a line for each write would wear out an SD card. */
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
    // Making a line that is not written would cost as much as parsing the body.
    const { level } = this.#log
    if (!error && level !== 'debug' && level !== 'trace') return
    const milliseconds = Math.round(reply.elapsedTime)
    const line = { ...requestSummary(request, this.#redactor), status: reply.statusCode, milliseconds }
    if (error) request.log.warn({ ...line, err: error }, 'request broken off')
    else request.log.debug(line, 'request')
  }

  /** Logs nothing: the method of Fastify would print the URL. */
  override routeNotFound(): void {}
}

/** The log of one request. Makes the child logger only at its first line: most requests have none. */
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

/** Segments of a path that have more characters than this are redacted: a thing id has 16, and more may be part of a token. */
const longestSegment = 20
/** How many characters of a path, an error message and a stack are logged: a client could send 16 KiB. */
const longestPath = 200
const longestText = 1_000
const longestStack = 4_000

/** The path without its query, with every segment redacted that may contain a token. */
export function redactPath(url: string, redactor: Redactor): string {
  const [path = ''] = url.split('?', 1)
  // Before the split: an admin key may have slashes.
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
 * The safe fields of an error: other fields, such as Node's `rawPacket`, contain the request. An outage of the store or a stop of
 * the server is no defect and may be logged many times, so its error is logged without a stack.
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
/** Maximum number of kinds that are counted separately in a period; further kinds of a level count as one kind. */
const maximumKinds = 64

export interface HeldBack {
  /** A level of pino: 30 is `info`, 50 is `error`. */
  readonly level: number
  readonly kind: string
  readonly suppressed: number
}

interface Kind {
  readonly level: number
  readonly kind: string
  lines: number
}

/** Admits the first five lines of a kind in a minute and counts the rest, in bounded memory. */
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

/** Distinguishes the ids of this process from those of other runs. */
const run = randomBytes(5).toString('hex')
let requests = 0
let connections = 0

const wellFormed = /^[\w.-]{1,64}$/

/** The id in all log lines of a request: its `X-Request-Id` if that is well formed and no credential, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>, redactor: Redactor): string {
  const given = headers['x-request-id']
  if (typeof given === 'string' && wellFormed.test(given) && redactor.redact(given) === given) return given
  return `${run}-${(++requests).toString(36)}`
}

/** The id of an MQTT connection in all of its log lines. */
export function newConnectionId(): string {
  return `${run}-c${(++connections).toString(36)}`
}
