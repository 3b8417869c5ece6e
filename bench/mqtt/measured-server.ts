import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { createThing, type Thing } from '../../test/helpers/http-client.ts'
import { connectMqtt } from '../../test/helpers/mqtt-client.ts'
import { noRateLimits, type ServerProcess } from '../../test/helpers/server-process.ts'
import { withServer } from '../../test/helpers/with-server.ts'
import { idOf } from '../peers/peer.ts'
import { forgetPeak, peakMemory, residentMemory } from '../peers/processes.ts'

/** Milliseconds in which the memory of a server that was busy comes to rest. */
const settling = 1_000
/** Not more writes, nor bytes, than this make an ordinary load. */
const ordinary = { writes: 10_000, bytes: 100_000_000, inFlight: 16 }

export interface MeasuredServer {
  readonly server: ServerProcess
  readonly thing: Thing
  /** Writes this body again and again, over TCP at QoS 1, few at a time, as clients that wait for their acks do. */
  loadOrdinarily(body: Uint8Array): Promise<void>
  /** Bytes of resident memory: of the server when it is idle, and the highest during the task. */
  measure(task: () => Promise<void>): Promise<{ readonly before: number; readonly peak: number }>
}

/** Runs the task on a server in a process of its own, as users run it, that has one thing. Linux only. */
export function withMeasuredServer<T>(task: (measured: MeasuredServer) => Promise<T>): Promise<T> {
  return withServer({ environment: noRateLimits }, async server => {
    const thing = await createThing(server)
    const processId = idOf(server)
    return await task({
      server,
      thing,
      loadOrdinarily: async body => {
        const { thingToken } = thing
        const client = await connectMqtt({ url: server.mqttUrl, username: thingToken })
        let left = Math.min(ordinary.writes, Math.ceil(ordinary.bytes / body.length))
        const sender = async () => {
          while (left-- > 0) await client.publish(`things/${thingToken}/write`, body)
        }
        await Promise.all(Array.from({ length: ordinary.inFlight }, sender))
        await client.disconnect()
      },
      measure: async run => {
        await delay(settling)
        forgetPeak(processId)
        const before = residentMemory(processId)
        await run()
        return { before, peak: peakMemory(processId) }
      },
    })
  })
}

/**
 * Writes pieces, in turn, as fast as the socket takes them.
 *
 * @param end ends it @param most bytes at most
 * @returns how many pieces were written
 */
export async function pour(
  stream: Writable,
  pieces: readonly Buffer[],
  end: Promise<unknown>,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let isOver = false
  const over = end.then(() => {
    isOver = true
  })
  let count = 0
  for (let bytes = 0; !isOver && bytes < most; count++) {
    const piece = pieces[count % pieces.length] ?? Buffer.alloc(0)
    bytes += piece.length
    const goesOn = stream.write(piece)
    await (goesOn
      ? new Promise(resolve => setImmediate(resolve))
      : Promise.race([new Promise(resolve => stream.once('drain', resolve)), over]))
  }
  return count
}
