import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createThing } from '../helpers/http-client.ts'
import { Program } from './program.ts'
import { serve } from './serve.ts'
import { bodies, body, valuesOnceStored, valuesTo } from './stored.ts'

const server = serve()
const script = fileURLToPath(new URL('paho_client.py', import.meta.url))
/** Debian's own interpreter, the only one that finds Debian's modules. */
const python = { command: '/usr/bin/python3', debianPackage: 'python3-paho-mqtt' }
const transports = ['tcp', 'websockets'] as const

interface Device {
  readonly transport: (typeof transports)[number]
  readonly qos: number
  readonly topic: string
  readonly username?: string
  readonly will?: string
}

function runDevice({ transport, qos, topic, username = '', will = '' }: Device, lines: string[]): Program {
  const { hostname, port } = new URL(transport === 'tcp' ? server().mqttUrl : server().webSocketUrl)
  const args = [script, hostname, port, transport, String(qos), topic, username, will]
  return new Program(python, args, `${lines.join('\n')}\n`).closeInput()
}

describe.each(transports)('paho over %s', transport => {
  it.each([0, 1, 2])('writes in order at QoS %i without a credential in CONNECT', async qos => {
    const thing = await createThing(server())
    const topic = `v2/things/${thing.thingToken}`
    const device = runDevice({ transport, qos, topic }, bodies('n', 100))
    expect(await device.ended).toMatchObject({ code: 0, output: 'done\n' })
    expect(await valuesOnceStored(server(), thing, 'n', 100)).toEqual(valuesTo(100))
  })

  it('writes with its token as username', async () => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingId}/write`
    const device = runDevice({ transport, qos: 1, topic, username: thing.thingToken }, bodies('n', 1))
    expect(await device.ended).toMatchObject({ code: 0, output: 'done\n' })
    expect(await valuesOnceStored(server(), thing, 'n', 1)).toEqual([0])
  })

  it('is told that a token which no thing has is refused', async () => {
    const topic = `things/${'A'.repeat(43)}/write`
    const device = runDevice({ transport, qos: 1, topic, username: 'A'.repeat(43) }, bodies('n', 1))
    expect(await device.ended).toMatchObject({ code: 1, output: expect.stringContaining('refused: ') })
  })

  it.each([0, 1, 2])('has its will at QoS %i written when it is killed', async qos => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingToken}/write`
    const will = body('will', 'gone')
    const device = runDevice({ transport, qos, topic, will }, bodies('n', 1))
    await device.said(/done/)
    await device.kill()
    expect(await valuesOnceStored(server(), thing, 'will', 1)).toEqual(['gone'])
  })
})
