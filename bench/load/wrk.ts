import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { endWithUs, ProgramMissing } from '../peers/peer.ts'
import { endedChildrenTime } from '../peers/processes.ts'
import type { LoadResult, Marks, Phases } from './writes.ts'

const script = fileURLToPath(new URL('wrk.lua', import.meta.url))

interface Load {
  readonly url: string
  /** Each has one request at a time on its way. */
  readonly connections: number
}

export interface Posts extends Load {
  /** JSON. */
  readonly body: string
}

export interface Gets extends Load {
  /** Of the url's server, asked for in turn. */
  readonly paths: readonly string[]
}

type Answered = Pick<LoadResult, 'done' | 'seconds' | 'processorTime'>

/**
 * Posts with wrk, from one thread, each connection again as soon as it is answered. wrk never pauses, and costs half of a
 * bare server. It cannot tell latency from the time at which a write was due.
 *
 * @param phases whole seconds; others are rounded up
 * @throws Error if anything but 201 is answered first, or an error behind it, or a connection fails
 * @throws ProgramMissing
 */
export async function post(posts: Posts, phases: Phases, marks: Marks): Promise<Answered> {
  const { url, body } = posts
  const headers = { 'content-type': 'application/json' }
  await assertStatus(await fetch(url, { method: 'POST', headers, body }), 201)
  return await drive(posts, ['post', body], phases, marks)
}

/** As `post`, for questions that are answered with 200. */
export async function get(gets: Gets, phases: Phases, marks: Marks): Promise<Answered> {
  await assertStatus(await fetch(new URL(gets.paths[0] ?? '', gets.url)), 200)
  return await drive(gets, ['get', ...gets.paths], phases, marks)
}

/** wrk itself only tells errors from answers. */
async function assertStatus(response: Response, expected: number): Promise<void> {
  const text = await response.text()
  if (response.status !== expected) throw new Error(`answered with ${response.status}: ${text}`)
}

async function drive(
  load: Load,
  asked: readonly string[],
  { warmUp, measured }: Phases,
  { onBegin, onEnd }: Marks,
): Promise<Answered> {
  await runWrk(load, asked, warmUp)
  await onBegin()
  const before = endedChildrenTime()
  const { done, microseconds } = await runWrk(load, asked, measured)
  const processorTime = endedChildrenTime() - before
  await onEnd()
  return { done, seconds: microseconds / 1e6, processorTime }
}

async function runWrk({ url, connections }: Load, asked: readonly string[], seconds: number) {
  const options = [`-c${connections}`, `-d${Math.ceil(seconds)}s`, '--timeout', '30s', '-s', script]
  const running = promisify(execFile)('wrk', ['-t1', ...options, url, '--', ...asked])
  endWithUs(running.child)
  try {
    const { stdout } = await running
    const printed = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
    const report: Readonly<Record<'done' | 'microseconds' | 'failed', number>> = printed
    if (report.failed > 0) throw new Error(`wrk: ${report.failed} requests failed`)
    return report
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new ProgramMissing('wrk is not installed: apt install wrk')
  }
}
