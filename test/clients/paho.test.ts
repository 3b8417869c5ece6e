import { describe, expect, it } from 'vitest'
import { createThing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { type PahoDevice, pahoDevice } from './paho.ts'
import { bodies, body, valuesOnceStored, valuesTo } from './stored.ts'

const server = serverOfTests()
const kinds = (['tcp', 'websockets'] as const).flatMap(transport =>
  ([4, 5] as const).map(version => ({ transport, version })),
)

describe.each(kinds)('paho over $transport in version $version', kind => {
  const runDevice = (device: Omit<PahoDevice, 'server' | 'transport'>, lines: readonly string[]) =>
    pahoDevice({ server: server(), ...kind, ...device }, lines)

  it.each([0, 1, 2])('writes in order at QoS %i without a credential in CONNECT', async qos => {
    const thing = await createThing(server())
    const topic = `v2/things/${thing.thingToken}`
    const device = await runDevice({ qos, topic }, bodies('n', 100))
    expect(await device.exited).toMatchObject({ code: 0, output: 'done\n' })
    expect(await valuesOnceStored(server(), thing, 'n', 100)).toEqual(valuesTo(100))
  })

  it('writes with its token as username', async () => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingId}/write`
    const device = await runDevice({ qos: 1, topic, username: thing.thingToken }, bodies('n', 1))
    expect(await device.exited).toMatchObject({ code: 0, output: 'done\n' })
    expect(await valuesOnceStored(server(), thing, 'n', 1)).toEqual([0])
  })

  it('is told that a token which no thing has is refused', async () => {
    const topic = `things/${'A'.repeat(43)}/write`
    const device = await runDevice({ qos: 1, topic, username: 'A'.repeat(43) }, bodies('n', 1))
    expect(await device.exited).toMatchObject({ code: 1, output: expect.stringContaining('refused: ') })
  })

  it.each([0, 1, 2])('has its will at QoS %i written when it is killed', async qos => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingToken}/write`
    const will = body('will', 'gone')
    const device = await runDevice({ qos, topic, will }, bodies('n', 1))
    await device.said(/done/)
    await device.end('SIGKILL')
    expect(await valuesOnceStored(server(), thing, 'will', 1)).toEqual(['gone'])
  })
})
