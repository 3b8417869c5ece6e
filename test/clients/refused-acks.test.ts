import type { IPubackPacket, IPubrecPacket } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { connectMqttJs } from './mqtt-js.ts'
import { pahoDevice } from './paho.ts'
import { Program } from './program.ts'
import { body, storedValues } from './stored.ts'

/** What clients of version 5 show of a write that is refused in its ack (contract §7.7). */

const server = serverOfTests()
const writeTopic = ({ thingToken }: Thing) => `things/${thingToken}/write`
const refusedBody = body('a b', 1)
const code = 0x83
const noSuchPacketId = 0x92

/** What HTTP says of the same body. */
async function reasonsOfHttp({ thingToken }: Thing) {
  const url = `${server().url}/v2/things/${thingToken}`
  const response = await fetch(url, { method: 'POST', body: refusedBody })
  const { message, reason, errors } = (await response.json()) as Readonly<Record<string, unknown>>
  return {
    reasonString: message,
    userProperties: { reason, retryable: 'no', errors: JSON.stringify(errors) },
  }
}

describe.each(['TCP', 'WebSocket'] as const)('mqtt.js over %s', transport => {
  it.each([1, 2] as const)('has an error with the reasons at QoS %i, and goes on', async qos => {
    const thing = await createThing(server())
    const options = { protocolVersion: 5, username: thing.thingToken } as const
    const { client } = await connectMqttJs(server(), transport, options)
    let closes = 0
    client.on('close', () => closes++)
    const refused = await new Promise<{ code: unknown; properties: unknown }>((resolve, reject) => {
      client.publish(writeTopic(thing), refusedBody, { qos }, (error, packet) => {
        // The callback has the ack, although its type says that it has the message.
        const ack = packet as unknown as IPubackPacket | IPubrecPacket | undefined
        if (error && 'code' in error) resolve({ code: error.code, properties: ack?.properties })
        else reject(error ?? new Error('the write was not refused'))
      })
    })
    expect(refused).toEqual({ code, properties: await reasonsOfHttp(thing) })
    await client.publishAsync(writeTopic(thing), body('n', 1), { qos })
    expect(await storedValues(server(), thing, 'n')).toEqual([1])
    expect(closes).toBe(0)
  })
})

describe.each(['tcp', 'websockets'] as const)('paho over %s', transport => {
  const runDevice = async (thing: Thing, qos: number) => {
    const device = { server: server(), transport, version: 5, topic: writeTopic(thing), qos } as const
    const lines = [body('n', 1), refusedBody, body('n', 2)]
    const program = await pahoDevice({ ...device, username: thing.thingToken }, lines)
    const { code, stdout, stderr } = await program.exited
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line) as unknown)
  }

  it('has the reasons in on_publish at QoS 1, and goes on', async () => {
    const thing = await createThing(server())
    expect(await runDevice(thing, 1)).toEqual([{ index: 1, code, ...(await reasonsOfHttp(thing)) }])
    expect(await storedValues(server(), thing, 'n')).toEqual([1, 2])
  })

  // It sends PUBREL whatever PUBREC says, and gives on_publish the reason of PUBCOMP alone.
  it('is not told at QoS 2 that the write was stored, and goes on', async () => {
    const thing = await createThing(server())
    const expected = { index: 1, code: noSuchPacketId, reasonString: null, userProperties: {} }
    expect(await runDevice(thing, 2)).toEqual([expected])
    expect(await storedValues(server(), thing, 'n')).toEqual([1, 2])
  })
})

describe('mosquitto_pub', () => {
  it.each([1, 2] as const)('-q %i warns', async qos => {
    const thing = await createThing(server())
    const { hostname, port } = new URL(server().mqttUrl)
    const { output } = await new Program({ command: 'mosquitto_pub', debianPackage: 'mosquitto-clients' }, [
      ...['-h', hostname, '-p', port, '-V', 'mqttv5', '-u', thing.thingToken],
      ...['-q', String(qos), '-t', writeTopic(thing), '-m', refusedBody],
    ]).exited
    const { reasonString } = await reasonsOfHttp(thing)
    // It is given no properties of PUBREC.
    const reason = qos === 1 ? `${reasonString}\n` : ''
    expect(output).toBe(`Warning: Publish 1 failed: Implementation specific error.\n${reason}`)
  })
})
