import type { FastifyRequest } from 'fastify'
import type { TimeRange } from '../../core/ports.ts'
import { parseDatetime } from '../../core/record/datetime.ts'
import type { Redactor } from '../../core/refusals/redactor.ts'
import { type Reason, ThingwireError } from '../../errors.ts'

/** Maximum number of records in a JSON page (contract §6). */
const maximumPage = 1000

const flags = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

const parsed = new WeakMap<FastifyRequest, URLSearchParams>()

export class Query {
  readonly #parameters: URLSearchParams

  constructor(request: FastifyRequest) {
    this.#parameters = parsed.get(request) ?? parse(request)
  }

  /** @throws ThingwireError `reason` if the parameter is repeated */
  text(name: string, reason: Reason = 'invalid_query'): string | undefined {
    const values = this.#parameters.getAll(name)
    if (values.length > 1) throw new ThingwireError(reason, `${name} must be given only once`)
    return values[0]
  }

  /** @param redactor for the message @throws ThingwireError invalid_query if a parameter is not in `names` */
  refuseOthers(names: readonly string[], redactor: Redactor): void {
    const unknown = [...this.#parameters.keys()].find(name => !names.includes(name))
    if (unknown === undefined) return
    const known =
      names.length === 0 ? 'this address accepts none' : `this address accepts ${names.join(', ')}`
    throw new ThingwireError(
      'invalid_query',
      `the query parameter ${quotedName(unknown, redactor)} is unknown: ${known}`,
    )
  }

  /** All parameters; of a repeated one the last. */
  get all(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#parameters)
  }

  has(name: string): boolean {
    return this.#parameters.has(name)
  }

  /** @throws ThingwireError invalid_query */
  flag(name: string): boolean | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = flags.get(text.toLowerCase())
    if (value === undefined) throw new ThingwireError('invalid_query', `${name} must be true, false, 1 or 0`)
    return value
  }

  /** @throws ThingwireError invalid_query */
  oneOf<Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const text = this.text(name) ?? choices[0]
    const choice = choices.find(candidate => candidate === text)
    if (choice === undefined)
      throw new ThingwireError('invalid_query', `${name} must be ${choices.join(' or ')}`)
    return choice
  }

  /** `limit`, but at most `maximum`. @throws ThingwireError invalid_limit */
  limit<Fallback extends number | undefined>(fallback: Fallback, maximum = maximumPage): number | Fallback {
    const text = this.text('limit', 'invalid_limit')
    if (text === undefined) return fallback
    const limit = /^\d+$/.test(text) ? Number(text) : 0
    if (limit < 1) throw new ThingwireError('invalid_limit')
    return Math.min(limit, maximum)
  }

  /** `startDate`, inclusive, and `endDate`, exclusive. @throws ThingwireError invalid_range */
  range(): TimeRange {
    const from = this.#datetime('startDate')
    const to = this.#datetime('endDate')
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  }

  /** The query as text for a URL, with these parameters replaced. An undefined parameter is left out. */
  with(parameters: Readonly<Record<string, string | undefined>>): string {
    const changed = new URLSearchParams(this.#parameters)
    for (const [name, value] of Object.entries(parameters)) {
      if (value === undefined) changed.delete(name)
      else changed.set(name, value)
    }
    return changed.toString()
  }

  #datetime(name: string): number | undefined {
    const text = this.text(name, 'invalid_range')
    if (text === undefined) return undefined
    // A plus sign in an offset arrives as a space if it was not percent-encoded.
    const datetime = parseDatetime(text) ?? parseDatetime(text.replace(/ (?=\d\d:\d\d$)/, '+'))
    if (datetime === undefined) {
      const message = `${name} must be a real time in the form YYYYMMDDHHmmss (UTC) or RFC 3339`
      throw new ThingwireError('invalid_range', message)
    }
    // No record is from before 1970.
    return Math.max(datetime, 0)
  }
}

/** Parses the raw URL, because the host decides how `request.query` is parsed. */
function parse(request: FastifyRequest): URLSearchParams {
  const url = request.raw.url ?? ''
  const start = url.indexOf('?')
  const parameters = new URLSearchParams(start === -1 ? '' : url.slice(start + 1))
  // Kept for the route, which would otherwise parse the URL again.
  if (start !== -1) parsed.set(request, parameters)
  return parameters
}

const longestName = 60

/** A name from a client as JSON text for a message, cut to 60 characters and redacted. */
export function quotedName(name: string, redactor: Redactor): string {
  return JSON.stringify(redactor.redact(name, longestName))
}
