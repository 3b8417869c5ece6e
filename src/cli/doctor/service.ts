import type { ServerClient } from '../client.ts'
import { CommandError } from '../exit.ts'
import { readPrincipal } from '../named-thing.ts'
import { durationText } from '../progress.ts'
import { type Finding, fault, ok } from './finding.ts'
import { stepTimeout } from './network.ts'

/** Difference of clocks that is worth a word, milliseconds. */
const clockTolerance = 10_000

/** `/readyz`, and what the clock of the server says. */
export async function checkReady(url: string): Promise<Finding[]> {
  let response: Response
  const before = Date.now()
  try {
    response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(stepTimeout) })
  } catch (error) {
    const advice = 'the port accepts connections but does not answer HTTP: is it the HTTP port?'
    return [fault('ready', `no answer: ${(error as Error).message}`, advice)]
  }
  const answer = (await response.json().catch(() => ({}))) as { reason?: string; clock_behind?: boolean }
  return [readyFinding(response.status, answer), ...clockFindings(response, before)]
}

function readyFinding(status: number, answer: { reason?: string; clock_behind?: boolean }): Finding {
  if (status === 503) {
    const text = `the server takes no writes (${answer.reason ?? 'HTTP 503'})`
    return fault('ready', text, 'look at the log of the server: its store is away or full, or it is stopping')
  }
  if (status !== 200)
    return fault('ready', `HTTP ${status}`, 'is this a Thingwire server, and is the URL right?')
  if (answer.clock_behind) {
    const text = 'the clock of the server is behind its newest stored receipt time'
    return fault('ready', text, 'set the clock of the server (NTP)')
  }
  return ok('ready', 'the server takes writes')
}

/** By the Date header, which has whole seconds: it needs no token in a URL, as utils/date does. */
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

/** What the credential is, over HTTP. */
export async function checkCredential(client: ServerClient): Promise<Finding> {
  try {
    const principal = await readPrincipal(client)
    if (principal.kind === 'admin') return ok('HTTP credential', 'the admin key')
    if (principal.kind === 'session') return ok('HTTP credential', 'a session')
    return ok('HTTP credential', `the token of ${principal.name || 'the thing'} (${principal.thingId})`)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const advice =
      'was the token changed or revoked? The operator can create a new one: thingwire tokens add <thing>'
    return fault('HTTP credential', error.message, advice)
  }
}
