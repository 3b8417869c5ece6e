import { setTimeout as delay } from 'node:timers/promises'
import { type HttpAnswer, readAnswers } from './http/answers.ts'
import { secretsOf, type Target } from './http/case.ts'
import { RawConnection } from './http/connection.ts'
import { mutatedRequest } from './http/mutated-request.ts'
import { refusalProblems } from './http/refusal.ts'

export interface HttpMutationSetup {
  readonly url: string
  readonly target: Target
  /** The same one gives the same inputs in the same order. */
  readonly seed: number
  readonly seconds: number
  /** Told of how many inputs were sent. */
  readonly onProgress?: (sent: number) => void
}

export interface HttpMutationResult {
  readonly sent: number
  /** Answers by status. */
  readonly answers: ReadonlyMap<number, number>
  readonly findings: readonly string[]
}

/** Inputs a second: as many as leave the machine time for the server and its healthy clients. */
const rate = 150
const connections = 4
/** Milliseconds from the end of an input to that of its answer. */
const patience = 15_000
const keptFindings = 50

/** Sends good requests and bodies that were spoiled at random, each on a connection of its own, and looks at what comes back. */
export async function mutateHttp(setup: HttpMutationSetup): Promise<HttpMutationResult> {
  const { seconds, onProgress, seed } = setup
  const started = performance.now()
  const answers = new Map<number, number>()
  const findings: string[] = []
  let sent = 0
  const sender = async () => {
    while (performance.now() < started + seconds * 1_000) {
      const place = sent++
      const due = started + (place / rate) * 1_000
      await delay(Math.max(0, due - performance.now()))
      const input = mutatedRequest(seed, place, setup.target)
      const { statuses, problems } = await play(setup, input)
      for (const status of statuses) answers.set(status, (answers.get(status) ?? 0) + 1)
      if (problems.length > 0 && findings.length < keptFindings) {
        const bytes = JSON.stringify(input.toString('latin1').slice(0, 2_000))
        findings.push(`HTTP seed ${seed} input ${place}: ${problems.join('; ')}; sent ${bytes}`)
      }
      onProgress?.(sent)
    }
  }
  await Promise.all(Array.from({ length: connections }, sender))
  return { sent, answers, findings }
}

async function play({ url, target }: HttpMutationSetup, input: Buffer) {
  let connection: RawConnection | undefined
  try {
    connection = await RawConnection.open(url, patience)
    connection.send(input)
    connection.end()
    await connection.closed()
    const { answers, rest } = readAnswers(connection.received)
    const problems = answers.flatMap(answer => refusalProblems(answer, input, secretsOf(target)))
    if (rest.length > 0 && !isUpgraded(answers)) problems.push(`${rest.length} bytes of no answer`)
    if (answers.length === 0 && isRequest(input)) problems.push('no answer')
    return { statuses: answers.map(({ status }) => status), problems }
  } catch (error) {
    const received = connection?.received.toString('latin1') ?? ''
    // A request may have become one for a live stream, which does not end; in HTTP before 1.1 it has no chunks.
    if (/^HTTP\/1\.1 200 .*\r\nx-accel-buffering: no\r\n/is.test(received)) {
      return { statuses: [200], problems: [] }
    }
    return {
      statuses: [],
      problems: [`${(error as Error).message}; received ${JSON.stringify(received.slice(0, 500))}`],
    }
  } finally {
    connection?.destroy()
  }
}

function isUpgraded(answers: readonly HttpAnswer[]): boolean {
  return answers.at(-1)?.status === 101
}

/** Whether an answer is due: to anything but empty lines, and a CONNECT, which is hung up on. */
function isRequest(input: Buffer): boolean {
  const text = input.toString('latin1')
  return !/^[\r\n]*$/.test(text) && !/^[\r\n]*CONNECT /.test(text)
}
