import type { Thing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { bodyOf, type Door, Doors, writeSteadily } from '../load/doors.ts'

/** Through each door. */
const writesPerSecond = 250

/** How long each ack took, milliseconds, in the order of the acks. */
export type Acks = { readonly sentAt: number; readonly took: number }[]

export interface Load {
  readonly acks: Acks
  /** Sends no more; resolves when everything is acknowledged. @throws Error of a write that was not taken */
  stop(): Promise<void>
}

/** 500 writes a second, half of them over MQTT at QoS 1 and half over HTTP, sent when they are due whatever the acks do. */
export async function startLoad(server: ServerProcess, thing: Thing): Promise<Load> {
  const doors = await Doors.open(server, thing)
  const acks: Acks = []
  let value = 0
  let isStopped = false
  const sendTo = (door: Door) =>
    writeSteadily(
      writesPerSecond,
      () => !isStopped,
      () => doors.write(door, bodyOf('n', value++)),
      (sentAt, took) => acks.push({ sentAt, took }),
    )
  const sending = Promise.all([sendTo('MQTT'), sendTo('HTTP')])
  // Told by `stop`.
  sending.catch(() => {})
  return {
    acks,
    async stop() {
      isStopped = true
      await sending
      await doors.close()
    },
  }
}
