import { RefusedError, type ServerClient, UnreachableError } from '../client/client.ts'
import type { Credential } from '../client/credential.ts'
import { type Principal, readPrincipal } from '../client/named-thing.ts'
import { CommandError } from '../exit.ts'
import { durationText } from '../progress.ts'
import { type Finding, fault, note, ok } from './finding.ts'
import { stepTimeout } from './network.ts'

/** Smallest difference of two clocks that is reported as a fault, milliseconds. */
const clockTolerance = 10_000

interface Readiness {
  readonly status?: unknown
  readonly reason?: unknown
  readonly clock_behind?: unknown
}

/** Checks `/readyz` and the clock of the server. If another program answers, its clock is not checked. */
export async function checkReady(url: string): Promise<Finding[]> {
  let response: Response
  const before = Date.now()
  try {
    response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(stepTimeout) })
  } catch (error) {
    const advice = 'the port accepts connections but does not answer HTTP: is it the HTTP port?'
    return [fault('ready', `no answer: ${(error as Error).message}`, advice)]
  }
  const answer = (await response.json().catch(() => undefined)) as Readiness | null | undefined
  if (isThingwire(answer)) {
    return [readyFinding(response.status, answer), ...clockFindings(response, before)]
  }
  // A proxy may answer `/readyz` itself, so another path is tried.
  const refusal = await fetch(`${url}/v2/principal`, { signal: AbortSignal.timeout(stepTimeout) })
    .then(answered => answered.json() as Promise<Readiness | null>)
    .catch(() => undefined)
  const what = `/readyz answers HTTP ${response.status}`
  if (isThingwire(refusal)) {
    return [fault('ready', what, 'does a proxy block /readyz? Ask for it on the machine of the server')]
  }
  const advice =
    response.status >= 500
      ? 'a proxy seems to answer in its place: does the server run behind it?'
      : `is ${url} the address of the server, with the port and the path that a proxy gives it?`
  return [fault('server', `no Thingwire server answers at ${url}: ${what}`, advice)]
}

/** Whether a Thingwire server gave the answer: its errors have a reason. `not_found` does not count: the URL has a wrong path. */
function isThingwire(answer: Readiness | null | undefined): answer is Readiness {
  if (answer?.status === 'ready') return true
  return answer?.status === 'error' && typeof answer.reason === 'string' && answer.reason !== 'not_found'
}

function readyFinding(status: number, answer: Readiness): Finding {
  if (status !== 200) {
    const text = `the server accepts no writes (${answer.reason ?? `HTTP ${status}`})`
    const advice = 'look at the log of the server: its store is unavailable or full, or it is stopping'
    return fault('ready', text, advice)
  }
  if (answer.clock_behind) {
    const text = 'the clock of the server is behind its newest stored receipt time'
    return fault('ready', text, 'set the clock of the server (NTP)')
  }
  return ok('ready', 'the server accepts writes')
}

/** Compares the clocks by the Date header, which has whole seconds. Unlike `utils/date`, the header needs no token. */
function clockFindings(response: Response, before: number): Finding[] {
  const server = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(server)) return []
  const difference = server - (before + Date.now()) / 2
  const side = difference > 0 ? 'ahead of' : 'behind'
  const text = `the server is ${durationText(Math.abs(difference))} ${side} this machine`
  if (Math.abs(difference) < clockTolerance)
    return [ok('clock', 'the clocks of the server and this machine agree')]
  const advice = 'set the wrong clock (NTP): the server refuses datetimes more than 24 h ahead of its own'
  return [fault('clock', text, advice)]
}

/** Checks over HTTP whether the credential is valid, and what kind of credential it is. */
export async function checkCredential(client: ServerClient, { ifUnknown }: Credential): Promise<Finding> {
  try {
    const principal = await readPrincipal(client)
    if (principal.kind === 'admin') return ok('HTTP credential', 'the admin key')
    if (principal.kind === 'session') return ofSession(principal)
    if (principal.kind === 'source')
      return ok('HTTP credential', `the token of the source ${principal.name} (${principal.sourceId})`)
    return ok('HTTP credential', `the token of ${principal.name || 'the thing'} (${principal.thingId})`)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return fault('HTTP credential', error.message, credentialAdvice(error, ifUnknown))
  }
}

function ofSession({ things, access }: Extract<Principal, { kind: 'session' }>): Finding {
  // The access only applies to things, so it does not matter for a session without things.
  if (access === 'write' || things.length === 0)
    return ok('HTTP credential', 'a session, which needs the id of the thing in each path and topic')
  const advice = 'a device needs the token of its thing, or a session that was made with --write'
  return note('HTTP credential', 'a session that may only read', advice)
}

function credentialAdvice(error: CommandError, ifUnknown: string): string {
  if (error instanceof UnreachableError)
    return 'the credential could not be tested: is the server overloaded or stopping?'
  if (error instanceof RefusedError && error.reason === '') {
    return 'the credential could not be tested: does a proxy block /v2?'
  }
  if (error instanceof RefusedError && error.retryAfter !== undefined) {
    return 'the credential could not be tested: try again later'
  }
  return `was the credential changed or revoked, or does it belong to another server? ${ifUnknown}`
}
