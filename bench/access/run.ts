import { ask, createThing, type Session, type Thing } from '../../test/helpers/http-client.ts'
import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { connectAccepted } from '../../test/helpers/mqtt-client.ts'
import { noRateLimits, type ServerProcess } from '../../test/helpers/server-process.ts'
import { within } from '../../test/helpers/waiting.ts'
import { withServer } from '../../test/helpers/with-server.ts'
import { StreamClient } from '../../test/http/stream-client.ts'
import { startWriting, steadily } from '../load/writes.ts'
import { median, readOptions } from '../program.ts'

/**
 * `npm run bench:access [-- --seconds 20]`: how soon the connections and streams of a credential are closed when that is revoked or
 * has expired, on a server that takes 500 writes a second meanwhile. Ends with status 1 if a bound is missed.
 */

const { seconds } = readOptions({ seconds: 20 })
/** Milliseconds (contract §6). */
const bound = 1_000
/** Milliseconds after which what is open is taken for left open. */
const deadline = 10_000
const leastRounds = 3
/** Seconds. */
const lifetimes = [1, 2, 3]
/** What 20 things write meanwhile, a second. */
const rate = 500
const kinds = ['TCP', 'WebSocket', 'TCP subscriber', 'WebSocket subscriber', 'SSE', 'chunked'] as const

/** Makes a credential that the DELETE of `path` revokes. */
type MakeRevocable = (
  server: ServerProcess,
  thing: Thing,
) => Promise<{ readonly credential: string; readonly path: string; readonly thingId?: string }>

const revocables: Readonly<Record<string, MakeRevocable>> = {
  'a token': async (server, thing) => {
    const { thingToken, path } = await addToken(server, thing)
    return { credential: thingToken, path }
  },
  'a session of the operator': async (server, { thingId }) => {
    const wanted = { things: [thingId], access: 'write' }
    return revocable(await ask<Session>(server, 'POST', '/v2/admin/sessions', wanted))
  },
  'a session of a thing': async (server, { thingToken }) => revocable(await mint(server, thingToken)),
  'the token that minted a session': async (server, thing) => {
    const { thingToken, path } = await addToken(server, thing)
    return { credential: (await mint(server, thingToken)).sessionToken, path }
  },
  'a thing': async server => {
    const { thingId, thingToken } = await createThing(server)
    return { credential: thingToken, path: `/v2/admin/things/${thingId}`, thingId }
  },
}

const judged = new JudgedLines()

/** What is open with a credential. */
interface Opened {
  readonly kind: string
  /** Resolves with `Date.now()` at the moment at which its end is seen. */
  readonly closed: Promise<number>
  destroy(): void
}

/** By kind, how many milliseconds after a moment something was closed. */
type Closings = Record<string, number[]>

/** Waits until everything is closed, or for so many milliseconds. @param since as `Date.now()` has it */
async function takeClosings(closings: Closings, opened: readonly Opened[], since: number, time = deadline) {
  await Promise.all(
    opened.map(async ({ kind, closed, destroy }) => {
      // What was never closed counts as closed now: that is too late in any case.
      const at = await within(closed, kind, time).catch(() => Date.now())
      destroy()
      closings[kind] = [...(closings[kind] ?? []), at - since]
    }),
  )
}

/** @param least milliseconds, if an earlier end is wrong, too */
function judge(closings: Closings, what: string, least = Number.NEGATIVE_INFINITY): void {
  console.log(`\n${what} to the end of what was open (bound ${bound} ms):`)
  for (const [kind, delays] of Object.entries(closings)) {
    const [first, last] = [Math.min(...delays), Math.max(...delays)]
    const isInTime = last <= bound && first >= least
    judged.line(isInTime, `${kind}: median ${median(delays)} ms, max ${last} ms (${delays.length})`)
  }
}

await withServer({ environment: noRateLimits }, async server => {
  const writers = await Promise.all(Array.from({ length: 20 }, () => createThing(server)))
  const tokens = writers.map(({ thingToken }) => thingToken)
  const writing = await startWriting(steadily(server.mqttUrl, tokens, rate))
  for (const [name, make] of Object.entries(revocables)) await benchRevocation(server, name, make)
  await benchExpiry(server)
  const { total, unacked } = await writing.stop()
  judged.line(unacked === 0, `load meanwhile: ${total} writes acknowledged, ${unacked} not`)
})
process.exitCode = judged.broken === 0 ? 0 : 1

/** Revokes one kind of credential again and again: from each answer to each closing. */
async function benchRevocation(server: ServerProcess, name: string, make: MakeRevocable): Promise<void> {
  const end = performance.now() + (seconds * 1_000) / (Object.keys(revocables).length + 1)
  const thing = await createThing(server)
  const closings: Closings = {}
  for (let round = 0; round < leastRounds || performance.now() < end; round++) {
    const { credential, path, thingId = thing.thingId } = await make(server, thing)
    const opened = await openAll(server, thingId, credential)
    await ask(server, 'DELETE', path)
    await takeClosings(closings, opened, Date.now())
  }
  judge(closings, `${name} revoked, from the answer of the DELETE`)
}

/** Lets sessions of 1 to 3 s expire at the same time: from each `expiresAt` to each closing. */
async function benchExpiry(server: ServerProcess): Promise<void> {
  const thing = await createThing(server)
  const closings: Closings = {}
  await Promise.all(
    lifetimes.map(async expiresIn => {
      const session = await mint(server, thing.thingToken, { expiresIn })
      const opened = await openAll(server, thing.thingId, session.sessionToken)
      const expiresAt = Date.parse(session.expiresAt)
      await takeClosings(closings, opened, expiresAt, expiresAt - Date.now() + deadline)
    }),
  )
  judge(closings, 'sessions of 1 to 3 s expired, from expiresAt', 0)
}

async function addToken(server: ServerProcess, { thingId }: Thing) {
  const tokens = `/v2/admin/things/${thingId}/tokens`
  const added = await ask<Thing & { readonly tokenId: string }>(server, 'POST', tokens)
  return { ...added, path: `${tokens}/${added.tokenId}` }
}

function revocable({ sessionToken, sessionId }: Session) {
  return { credential: sessionToken, path: `/v2/admin/sessions/${sessionId}` }
}

function mint(server: ServerProcess, thingToken: string, more: object = {}): Promise<Session> {
  return ask(server, 'POST', `/v2/things/${thingToken}/sessions`, { access: 'read', ...more })
}

/** A connection or stream of every kind with one credential, all of them in use when this resolves. */
function openAll(server: ServerProcess, thingId: string, credential: string): Promise<Opened[]> {
  const open = async (kind: (typeof kinds)[number]): Promise<Opened> => {
    if (kind === 'SSE' || kind === 'chunked') {
      const headers = kind === 'SSE' ? { accept: 'text/event-stream' } : {}
      const authorization = `Bearer ${credential}`
      const url = `${server.url}/v2/things/${thingId}`
      const stream = await StreamClient.open(url, { ...headers, authorization })
      const head = await stream.head()
      if (!head.startsWith('HTTP/1.1 200')) throw new Error(`no stream: ${head}`)
      return { kind, closed: stream.closed.then(() => Date.now()), destroy: () => stream.socket.destroy() }
    }
    const isSubscriber = kind.endsWith('subscriber')
    const url = kind.startsWith('TCP') ? server.mqttUrl : server.webSocketUrl
    const login = { username: 'bench', password: credential, clientId: kind, clean: !isSubscriber }
    const client = await connectAccepted({ url, ...login })
    if (isSubscriber) await client.subscribeAll([`things/${thingId}/#`, `v2/things/${thingId}`])
    return { kind, closed: client.closed.then(() => Date.now()), destroy: () => client.stream.destroy() }
  }
  return Promise.all(kinds.map(open))
}
