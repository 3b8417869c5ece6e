import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ProgramMissing } from '../peers/peer.ts'
import { endedChildrenTime } from '../peers/processes.ts'
import { endWithUs } from '../peers/program.ts'
import type { LoadResult, Marks, Phases } from './load.ts'

const script = fileURLToPath(new URL('wrk-post.lua', import.meta.url))

export interface Posts {
  readonly url: string
  /** Each has one request at a time on its way. */
  readonly connections: number
  /** JSON. */
  readonly body: string
  readonly expectedStatus: number
}

type Posted = Pick<LoadResult, 'done' | 'seconds' | 'processorTime'>

/** What wrk-post.lua prints. */
interface Report {
  readonly done: number
  readonly microseconds: number
  readonly failed: number
}

/**
 * Posts with wrk, from one thread, each connection again as soon as it is answered. wrk never pauses, and costs half of a
 * bare server. It cannot tell latency from the time at which a write was due.
 *
 * @param phases whole seconds; others are rounded up
 * @throws Error if anything but the expected status is answered first, or an error behind it, or a connection fails
 * @throws ProgramMissing
 */
export async function post(
  posts: Posts,
  { warmUp, measured }: Phases,
  { onBegin, onEnd }: Marks,
): Promise<Posted> {
  await postOnce(posts)
  await runWrk(posts, warmUp)
  await onBegin()
  const before = endedChildrenTime()
  const { done, microseconds } = await runWrk(posts, measured)
  const processorTime = endedChildrenTime() - before
  await onEnd()
  return { done, seconds: microseconds / 1e6, processorTime }
}

/** wrk itself only tells errors from answers. */
async function postOnce({ url, body, expectedStatus }: Posts): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body })
  const text = await response.text()
  if (response.status !== expectedStatus) throw new Error(`answered with ${response.status}: ${text}`)
}

async function runWrk({ url, connections, body }: Posts, seconds: number): Promise<Report> {
  const options = [`-c${connections}`, `-d${Math.ceil(seconds)}s`, '--timeout', '30s', '-s', script]
  const running = promisify(execFile)('wrk', ['-t1', ...options, url, '--', body])
  endWithUs(running.child)
  try {
    const { stdout } = await running
    const report: Report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
    if (report.failed > 0) throw new Error(`wrk: ${report.failed} requests failed`)
    return report
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new ProgramMissing('wrk is not installed: apt install wrk')
  }
}
