import { describe, expect, it } from 'vitest'
import { createThing, write } from '../helpers/http-client.ts'
import { pathOfTest, serverOfTests } from '../helpers/of-test.ts'
import { writeBothDoors } from './both-doors.ts'
import { type LiveClient, recordValue } from './client.ts'
import { mosquittoSub } from './mosquitto.ts'
import { mqttJs } from './mqtt-js.ts'
import { paho } from './paho.ts'
import { storedValues } from './stored.ts'

/** Clients that come back by themselves when the server cuts them off. */

const server = serverOfTests()
const portOf = (url: string) => Number(new URL(url).port)

const clients: readonly LiveClient[] = [
  mosquittoSub('mqttv311'),
  mosquittoSub('mqttv5'),
  mqttJs('TCP', 5),
  mqttJs('WebSocket', 5),
  paho('tcp', 5),
  paho('websockets', 5),
]

describe.each(clients)('$name', client => {
  it('that is cut off gets what it missed at every QoS, in order and once', async () => {
    const thing = await createThing(server())
    const [tcp, http] = [
      await pathOfTest(portOf(server().mqttUrl)),
      await pathOfTest(portOf(server().webSocketUrl)),
    ]
    const [mqttUrl, webSocketUrl] = [`mqtt://127.0.0.1:${tcp.port}`, `ws://127.0.0.1:${http.port}/mqtt`]
    const { inbox } = await client.subscribe(
      { ...server(), mqttUrl, webSocketUrl },
      {
        ...{ filters: [`things/${thing.thingToken}/values/n`], qos: 1, username: thing.thingToken },
        ...{ clientId: 'cut', returns: true },
      },
    )
    for (const path of [tcp, http]) path.refuse()
    await writeBothDoors(server(), thing, { from: 0, to: 90 })
    for (const path of [tcp, http]) path.restore()
    await write(server(), thing, { values: [{ key: 'n', value: 'last' }] })
    const received = await inbox.until(({ payload, retain }) => payload.includes('"last"') && !retain)
    const stored = await storedValues(server(), thing, 'n')
    expect(stored).toHaveLength(91)
    expect(received.filter(({ retain }) => !retain).map(recordValue)).toEqual(stored)
  })
})
