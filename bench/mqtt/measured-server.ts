import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createThing, type Thing } from '../../test/helpers/http-client.ts'
import { connectMqtt } from '../../test/helpers/mqtt-client.ts'
import { noRateLimits, type ServerProcess } from '../../test/helpers/server-process.ts'
import { withServer } from '../../test/helpers/with-server.ts'

/** Milliseconds in which the memory of a server that was busy comes to rest. */
const settling = 1_000
/** Not more writes, nor bytes, than this make an ordinary load. */
const ordinary = { writes: 10_000, bytes: 100_000_000, inFlight: 16 }

/** Bytes of resident memory. */
export interface Memory {
  /** Of the server when it is idle. */
  readonly before: number
  /** Highest while it was measured. */
  readonly peak: number
}

export interface MeasuredServer {
  readonly server: ServerProcess
  readonly processId: number
  readonly thing: Thing
  /** Writes this body again and again, over TCP at QoS 1, few at a time, as clients that wait for their acks do. */
  loadOrdinarily(body: Uint8Array): Promise<void>
  measure(task: () => Promise<void>): Promise<Memory>
}

/** Runs the task on a server in a process of its own, as users run it, that has one thing. Linux only. */
export function withMeasuredServer<T>(task: (measured: MeasuredServer) => Promise<T>): Promise<T> {
  return withServer({ environment: noRateLimits }, async server => {
    const processId = Number(server.process.pid)
    const thing = await createThing(server)
    return await task({
      server,
      processId,
      thing,
      loadOrdinarily: body => loadOrdinarily(server, thing, body),
      measure: run => measure(processId, run),
    })
  })
}

async function loadOrdinarily(
  { mqttUrl }: ServerProcess,
  { thingToken }: Thing,
  body: Uint8Array,
): Promise<void> {
  const client = await connectMqtt({ url: mqttUrl, username: thingToken })
  let left = Math.min(ordinary.writes, Math.ceil(ordinary.bytes / body.length))
  const sender = async () => {
    while (left-- > 0) await client.publish(`things/${thingToken}/write`, body)
  }
  await Promise.all(Array.from({ length: ordinary.inFlight }, sender))
  await client.disconnect()
}

async function measure(processId: number, task: () => Promise<void>): Promise<Memory> {
  await delay(settling)
  // Sets the highest value back to the present one (proc(5)).
  writeFileSync(`/proc/${processId}/clear_refs`, '5')
  const before = memory(processId, 'VmRSS')
  await task()
  return { before, peak: memory(processId, 'VmHWM') }
}

function memory(processId: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024
}
