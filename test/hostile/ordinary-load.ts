import { setTimeout as delay } from 'node:timers/promises'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { RawConnection } from '../helpers/raw-connection.ts'
import type { HostileServer } from './hostile-server.ts'
import { bytesOfParts } from './http/case.ts'
import { goodBodies, goodRequests } from './http/corpus.ts'

/** Requests and publishes a second. */
const rate = 100
/** Publishes on a connection before the client comes back. */
const stay = 50

/** What clients do who do nothing wrong: every kind of request, each on a connection of its own, and publishes. */
export async function loadOrdinarily(hostile: HostileServer, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1_000
  await Promise.all([request(hostile, end), publish(hostile, end)])
}

async function request({ server, mutated }: HostileServer, end: number): Promise<void> {
  for (let place = 0; performance.now() < end; place++) {
    const parts = goodRequests[place % goodRequests.length] ?? goodRequests[0]
    const connection = await RawConnection.open(server.url)
    connection.send(bytesOfParts(parts, mutated))
    connection.socket.end()
    await connection.closed()
    connection.socket.destroy()
    await delay(1_000 / rate)
  }
}

async function publish({ server, mutated }: HostileServer, end: number): Promise<void> {
  const { thingToken } = mutated.thing
  while (performance.now() < end) {
    const client = await connectMqtt({ url: server.mqttUrl, username: thingToken })
    await client.subscribe(`things/${thingToken}/values/+`)
    for (let place = 0; place < stay && performance.now() < end; place++) {
      const body = goodBodies[place % goodBodies.length] ?? goodBodies[0]
      await client.publish(`things/${thingToken}/write`, body)
      await delay(1_000 / rate)
    }
    await client.disconnect()
  }
}
