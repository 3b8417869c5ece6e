import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Redactor } from '../../../src/core/refusals/redactor.ts'
import { newConnectionId, requestIdOf } from '../../../src/server/log/log.ts'
import { CollectedLog } from '../../helpers/collected-log.ts'
import { createThing } from '../../helpers/http-client.ts'
import { connectMqtt } from '../../helpers/mqtt-client.ts'
import { DoorService } from '../../mqtt/door-service.ts'

const adminKey = 'e4d909c290d0fb1ca068ffaddf22cbd0'
const idOf = (given?: string) =>
  requestIdOf({ headers: given === undefined ? {} : { 'x-request-id': given } }, new Redactor(adminKey))

const token = 'q7ZtB-x0LmK_2vWnRs8yEhUc5dPgJfAo3iXbTk4wYN1'

describe('requestIdOf()', () => {
  it.each(['a', 'web-1.42_b', randomUUID(), 'f'.repeat(32), 'x'.repeat(33)])('takes %s', given => {
    expect(idOf(given)).toBe(given)
  })

  it.each([
    ['an empty one', ''],
    ['a thing token', token],
    ['an activation code', token.slice(0, 34)],
    ['the start of a token', token.slice(0, 24)],
    ['the admin key', adminKey],
    ['one of 34 characters', 'f'.repeat(34)],
    ['one of 65 characters', '1.'.repeat(33)],
    ['one with a line break in it', 'a\n{"level":60}'],
    ['one with a quote', 'a"b'],
  ])('makes one in place of %s', (_case, given) => {
    expect(idOf(given)).toMatch(/^[\da-f]{10}-[\da-z]+$/)
  })

  it('makes another one each time', () => {
    expect(idOf()).not.toBe(idOf())
  })
})

describe('newConnectionId()', () => {
  it('is none of a request', () => {
    expect(newConnectionId()).toMatch(/^[\da-f]{10}-c[\da-z]+$/)
    expect(newConnectionId()).not.toBe(newConnectionId())
  })
})

describe('the log of the doors', () => {
  it('has the id of a request in its lines, and in the answer where the server has failed', async () => {
    const log = new CollectedLog()
    const fail = () => Promise.reject(new Error('a defect'))
    const service = await DoorService.start({
      log: log.logger,
      alter: store => Object.assign(store.refused, { list: fail }),
    })
    const thing = await createThing(service)
    const ask = (headers: Record<string, string>) =>
      fetch(`${service.url}/v2/things/${thing.thingToken}/errors`, { headers })
    const failed = await ask({ 'x-request-id': 'mine' })
    expect([failed.status, failed.headers.get('x-request-id')]).toEqual([500, 'mine'])
    expect(JSON.parse(await log.until(/defect while answering/))).toMatchObject({ requestId: 'mine' })

    const other = await ask({ 'x-request-id': thing.thingToken })
    const made = other.headers.get('x-request-id')
    expect(made).not.toBe(thing.thingToken)
    expect(JSON.parse(await log.until(/"msg":"request"/, log.lines().length - 1))).toMatchObject({
      requestId: made,
    })
    expect((await fetch(`${service.url}/v2/none`)).headers.get('x-request-id')).toBeNull()
    expect(log.lines().join()).not.toContain(thing.thingToken)
  })

  it('has the id of an MQTT connection in all of its lines, and nothing that the client has sent', async () => {
    const log = new CollectedLog()
    const service = await DoorService.start({ log: log.logger })
    const { thingToken } = await createThing(service)
    const client = await connectMqtt({
      url: service.webSocketUrl,
      username: thingToken,
      clientId: thingToken,
    })
    await client.destroy()
    const closed = JSON.parse(await log.until(/"MQTT connection closed"/)) as { connectionId: string }
    const lines = log.lines().filter(line => line.includes(closed.connectionId))
    const told = lines.map(line => (JSON.parse(line) as { msg: string }).msg)
    expect(told).toEqual(expect.arrayContaining(['MQTT connection', 'MQTT CONNECT answered']))
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ kind: 'websocket', address: expect.any(String) })
    expect(log.lines().join()).not.toContain(thingToken)
  })
})
