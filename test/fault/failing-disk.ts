import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { type Answer, HttpConnection, reasonOf } from '../helpers/http-connection.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { eventually, untilReady } from '../helpers/waiting.ts'
import { noViolations, type Violations } from './ledger.ts'
import { levelLogFile } from './level-log.ts'
import { runLoad } from './load.ts'
import { type DiskFaultSetup, resumeAll, type Served, withServer } from './served.ts'
import { storedValues } from './stored-values.ts'
import { Strace } from './strace.ts'

/** Milliseconds; the store tries every second. */
const recoveryDeadline = 30_000

/** How often what was answered while the disk failed, such as `503 store_unavailable` or `CONNACK 3`. */
export type Answers = Readonly<Record<string, number>>

export interface FailedSync {
  readonly answers: Answers
  /** Status codes of reads while fsync failed. */
  readonly reads: readonly number[]
  /** Return codes of CONNACK to clients that came while fsync failed. */
  readonly connacks: readonly number[]
  /** Writes that were acked, and MQTT writes that were not, while fsync failed. */
  readonly ackedMeanwhile: number
  readonly unackedMeanwhile: number
  /** Acked by the same process when fsync worked again, of each way. */
  readonly ackedAfter: number
  readonly recovered: Violations
  /** After one more start. */
  readonly restarted: Violations
}

/**
 * Lets every fsync fail with EIO for a while.
 *
 * @param end `recover`: the same process goes on afterwards. `kill`: it is killed while fsync still fails.
 */
export async function failedSync(setup: DiskFaultSetup, end: 'recover' | 'kill'): Promise<FailedSync> {
  const { writes } = setup
  const count = new AnswerCount()
  const { served, ...live } = await withServer(setup, async served => {
    const { server, processId, things, devices, ledger, load } = served
    await runLoad({ ...load, run: 'before', writes })
    const inject = 'inject=fdatasync,fsync:error=EIO'
    const strace = await Strace.attach(processId, ['-e', 'trace=fdatasync,fsync', '-e', inject])
    await runLoad({ ...load, run: 'failing', writes, ...count })
    const ackedMeanwhile = ledger.waits('failing').length
    const unackedMeanwhile = ledger.withOutcome('uncertain').filter(({ way }) => way !== 'HTTP').length
    const meanwhile = { ackedMeanwhile, unackedMeanwhile }
    const reads = await Promise.all(things.map(thing => statusOfRead(server, thing)))
    const connacks = await Promise.all(devices.map(device => device.connect(server.mqttUrl)))
    if (end === 'kill') {
      await server.kill()
      await strace.ended()
      return { served, reads, connacks, ...meanwhile, ackedAfter: 0, recovered: noViolations }
    }
    await strace.detach()
    await untilReady(server, recoveryDeadline)
    await runLoad({ ...load, run: 'after', writes })
    const ackedAfter = ledger.waits('after').length
    const recovered = ledger.check(await storedValues(server, things))
    return { served, reads, connacks, ...meanwhile, ackedAfter, recovered }
  })
  return { answers: count.answers, restarted: await checkRestarted(setup, served), ...live }
}

export interface FailedWrite {
  readonly answers: Answers
  /** Whether it did fail. */
  readonly hasFailed: boolean
  readonly recovered: Violations
  /** After one more start. */
  readonly restarted: Violations
}

/** What fails once; a write to the log may be the second half of a batch. */
export const singleFaults = { 'EIO from fdatasync': 'fdatasync', 'ENOSPC from write': 'write' } as const
export type SingleFault = keyof typeof singleFaults

/**
 * Lets one or a few calls on the log fail, while valid writes and writes that are refused for their content come in.
 */
export async function failedWrite(setup: DiskFaultSetup, fault: SingleFault): Promise<FailedWrite> {
  const { dataDir, writes } = setup
  const count = new AnswerCount()
  const output = join(dataDir, 'failed-writes')
  const { served, recovered } = await withServer(setup, async served => {
    const { server, processId, things, devices, ledger, load } = served
    const [error] = fault.split(' ')
    const call = singleFaults[fault]
    // Counted by strace for each thread of the pool apart.
    const inject = `inject=${call}:error=${error}:when=${2 + Math.floor(Math.random() * 8)}`
    const log = ['-P', await levelLogFile(dataDir), '-e', `trace=${call}`, '-s', '0']
    const strace = await Strace.attach(processId, [...log, '-e', inject, '-o', output])
    const loaded = runLoad({ ...load, run: 'failing', writes, sizes: 'any', ...count })
    await Promise.all([loaded, postRefused(served, writes, count)])
    await strace.detach()
    await untilReady(server, recoveryDeadline)
    await untilTaking(server)
    await resumeAll(devices, server)
    return { served, recovered: ledger.check(await storedValues(server, things)) }
  })
  const hasFailed = (await readFile(output, 'latin1')).includes('(INJECTED)')
  return { answers: count.answers, hasFailed, recovered, restarted: await checkRestarted(setup, served) }
}

/** A store that has lacked room reads on, and takes nothing new until it has looked at the disk again. */
async function untilTaking(server: ServerProcess): Promise<void> {
  const isTaking = () =>
    createThing(server).then(
      () => true,
      () => false,
    )
  if (!(await eventually(isTaking, recoveryDeadline))) throw new Error('the server takes nothing again')
}

/** Counts what a load is answered. */
class AnswerCount {
  readonly answers: Record<string, number> = {}

  readonly onAnswer = (answer: Answer): void => this.#add(`${answer.status} ${reasonOf(answer) ?? ''}`.trim())

  readonly onConnack = (returnCode: number | undefined): void =>
    this.#add(`CONNACK ${returnCode ?? 'missing'}`)

  #add(name: string): void {
    this.answers[name] = (this.answers[name] ?? 0) + 1
  }
}

async function postRefused({ server, things }: Served, writes: number, count: AnswerCount): Promise<void> {
  const connection = new HttpConnection(server.url)
  const path = `/v2/things/${things[0]?.thingToken}`
  for (let posted = 0; posted < writes; posted++) {
    count.onAnswer(await connection.post(path, '{"values":[{"key":"not a key","value":1}]}'))
  }
  connection.close()
}

/** Once the devices have sent again what was not acked. */
async function checkRestarted(setup: DiskFaultSetup, served: Served): Promise<Violations> {
  const { things, devices, ledger } = served
  return await withServer(setup, async ({ server }) => {
    await resumeAll(devices, server)
    return ledger.check(await storedValues(server, things))
  })
}

async function statusOfRead({ url }: ServerProcess, { thingToken }: Thing): Promise<number> {
  const response = await fetch(`${url}/v2/things/${thingToken}/resources/temperature`)
  await response.arrayBuffer()
  return response.status
}
