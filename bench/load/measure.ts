import { within } from '../../test/helpers/waiting.ts'
import type { LoadResult, Marks, Phases } from './load.ts'
import { LoadProcess } from './load-process.ts'

/**
 * Runs a load from its first connection to its last ack.
 *
 * @param program the address of a file that calls `runLoad`
 * @throws Error with what ended it before it was over
 */
export async function measure(
  program: URL,
  writes: object,
  { warmUp, measured, acks }: Phases,
  { onBegin, onEnd }: Marks,
): Promise<LoadResult> {
  const load = new LoadProcess(program)
  try {
    await load.ask('connect', writes)
    await load.ask('start')
    await load.wait(warmUp)
    await Promise.all([load.ask('begin'), onBegin()])
    if (acks === undefined) await load.wait(measured)
    else await within(load.ask('untilAcked', acks), `${acks} acks`, measured * 1_000)
    await Promise.all([load.ask('end'), onEnd()])
    return await load.ask<LoadResult>('finish')
  } finally {
    await load.stop()
  }
}
