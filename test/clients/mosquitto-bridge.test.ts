import { describe, expect, it } from 'vitest'
import { createThing } from '../helpers/http-client.ts'
import { pathOfTest, serverOfTest, serverOfTests } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { Bridge, replaced } from './mosquitto-bridge.ts'
import { body, storedValues, valuesOnceStored, valuesTo } from './stored.ts'

const server = serverOfTests()
const portOf = ({ mqttUrl }: ServerProcess) => Number(new URL(mqttUrl).port)

describe('a mosquitto bridge', () => {
  it.each([
    ['as the page has it', (text: string) => text],
    [
      'that offers a protocol level of its own',
      (text: string) => replaced(text, 'try_private false', 'try_private true'),
    ],
    ['without try_private', (text: string) => replaced(text, 'try_private false\n', '')],
    [
      'of MQTT 3.1 that offers a level of its own',
      (text: string) =>
        replaced(replaced(text, 'mqttv311', 'mqttv31'), 'try_private false', 'try_private true'),
    ],
    ['of MQTT 5', (text: string) => replaced(text, 'mqttv311', 'mqttv50')],
    [
      'that notifies its own clients alone',
      (text: string) => replaced(text, 'notifications false', 'notifications_local_only true'),
    ],
  ])('%s forwards what devices send', async (_name, change) => {
    const { thing, device } = await bridged(change)
    await device.publishAsync('shed/write', body('n', 1), { qos: 1 })
    expect(await valuesOnceStored(server(), thing, 'n', 1)).toEqual([1])
  })

  it('that has a will on $SYS is told that it is refused', async () => {
    const { bridge } = await bridged(text => replaced(text, 'notifications false\n', ''))
    await bridge.said(/Connection Refused: not authorised/i)
  })

  it.each([
    [1, 'mqttv311'],
    [2, 'mqttv311'],
    // At QoS 2 mosquitto 2.0.11 sends all of a backlog at once whatever Receive Maximum is, and does not come back after 0x93.
    [1, 'mqttv50'],
  ] as const)(
    'brings 1,000 messages of QoS %i in %s over an outage of the server and one of its own',
    async (qos, version) => {
      const dataDir = await temporaryDirectory()
      let served = await serverOfTest({ dataDir })
      const thing = await createThing(served)
      const path = await pathOfTest(() => portOf(served))
      const bridge = await Bridge.open({
        ...{ token: thing.thingToken, remotePort: path.port },
        change: text => replaced(text, 'mqttv311', version),
      })
      await bridge.start()
      const first = await bridge.connectDevice()
      const send = (device: typeof first, from: number, to: number) =>
        Promise.all(
          valuesTo(to - from).map(value =>
            device.publishAsync('shed/write', body('n', from + value), { qos }),
          ),
        )

      // The server dies in the middle, and comes back when more messages wait in the bridge.
      const sending = send(first, 0, 300)
      await valuesOnceStored(served, thing, 'n', 20)
      await served.kill()
      await sending
      await send(first, 300, 500)
      served = await serverOfTest({ dataDir })
      await expect.poll(() => distinct(served)).toBe(500)

      // The bridge is stopped in the middle, and has the rest when it starts again.
      path.refuse()
      await send(first, 500, 999)
      path.restore()
      await valuesOnceStored(served, thing, 'n', 520)
      await bridge.stop()
      await bridge.start()
      await send(await bridge.connectDevice(), 999, 1_000)
      await expect.poll(() => distinct(served)).toBe(1_000)

      const values = await storedValues(served, thing, 'n')
      const ascending = values.map(Number).toSorted((a, b) => a - b)
      expect(qos === 2 ? ascending : [...new Set(ascending)]).toEqual(valuesTo(1_000))

      async function distinct(at: ServerProcess): Promise<number> {
        return new Set(await storedValues(at, thing, 'n')).size
      }
    },
  )
})

async function bridged(change: (configuration: string) => string) {
  const thing = await createThing(server())
  const bridge = await Bridge.open({ token: thing.thingToken, remotePort: portOf(server()), change })
  await bridge.start()
  return { thing, bridge, device: await bridge.connectDevice() }
}
