import { connect } from 'node:net'
import { generate } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { createToken } from '../../../src/core/token.ts'
import { CollectedLog } from '../../helpers/collected-log.ts'
import { createThing, write } from '../../helpers/http-client.ts'
import { connectMqtt } from '../../helpers/mqtt-client.ts'
import { DoorService, reading } from '../../mqtt/door-service.ts'

const info = 30
const from = { level: info, address: '127.0.0.1' }

describe('the log', () => {
  it('names the reason and the address of whom a door turns away, and no token', async () => {
    const log = new CollectedLog()
    const service = await DoorService.start({ log: log.logger })
    const thingToken = createToken()

    const refused = await connectMqtt({ url: service.mqttUrl, username: thingToken })
    expect(refused.connack.returnCode).toBe(4)
    expect(JSON.parse(await log.until(/MQTT client turned away: the credential is unknown/))).toMatchObject({
      ...from,
      returnCode: 4,
      connectionId: expect.any(String),
    })

    const anonymous = await connectMqtt({ url: service.mqttUrl })
    anonymous.send({ cmd: 'publish', topic: `things/${thingToken}/write`, payload: '{}', ...qos1 })
    await anonymous.closed
    expect(JSON.parse(await log.until(/client turned away: unknown_thing_token/))).toMatchObject({
      ...from,
      reason: 'unknown_thing_token',
      connectionId: expect.any(String),
    })

    const before = log.lines().length
    expect((await write(service, { thingId: 'a'.repeat(16), thingToken }, reading(1))).status).toBe(401)
    expect(JSON.parse(await log.until(/turned away/, before))).toMatchObject({
      ...from,
      reason: 'unknown_thing_token',
      requestId: expect.any(String),
    })
    expect(log.lines().join()).not.toContain(thingToken.slice(0, 8))
  })

  it.each([
    ['garage/temp', 'forbidden'],
    ['things/garage/write', 'not_found'],
    [`things/${'a'.repeat(16)}/write`, 'missing_credential'],
    [`things/${createToken()}/write`, 'unknown_thing_token'],
  ])('names why it turned away who publishes %s at QoS 0 and leaves: %s', async (topic, reason) => {
    const log = new CollectedLog()
    const service = await DoorService.start({ log: log.logger })
    const packets = [
      {
        cmd: 'connect',
        clientId: 'once',
        clean: true,
        keepalive: 60,
        protocolId: 'MQTT',
        protocolVersion: 4,
      },
      { cmd: 'publish', topic, payload: '21.5', qos: 0, dup: false, retain: false },
      { cmd: 'disconnect' },
    ] as const
    const { hostname, port } = new URL(service.mqttUrl)
    // As mosquitto_pub does: nothing is awaited behind DISCONNECT.
    connect({ host: hostname, port: Number(port) }).end(Buffer.concat(packets.map(each => generate(each))))
    expect(JSON.parse(await log.until(/client turned away/))).toMatchObject({ ...from, reason })
  })

  it('has nothing of this where the credential is right and the write is wrong', async () => {
    const log = new CollectedLog()
    const service = await DoorService.start({ log: log.logger })
    const thing = await createThing(service)
    const client = await connectMqtt({ url: service.mqttUrl, username: thing.thingToken })
    await client.publish(`things/${thing.thingToken}/write`, 'no JSON')
    await client.destroy()
    expect((await write(service, thing, { values: [] })).status).toBe(400)
    expect(log.lines(info).join()).not.toContain('turned away')
  })
})

const qos1 = { qos: 1, messageId: 1, dup: false, retain: false } as const
