import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aedes } from 'aedes'
import { expect, it, onTestFinished } from 'vitest'
import { Redactor } from '../../src/core/refusals/redactor.ts'
import { createToken } from '../../src/core/token.ts'
import { Connection } from '../../src/forward/connection.ts'

/** A broker that greets like a Thingwire, with these limits. @returns its URL */
async function greeting(token: string, limits: string): Promise<string> {
  const broker = await Aedes.createBroker()
  const messages = { [`things/${token}/limits`]: limits, [`things/${token}/date`]: '[]' }
  for (const [topic, payload] of Object.entries(messages)) {
    const packet = { cmd: 'publish', topic, payload, qos: 0, retain: true, dup: false } as const
    await new Promise<void>(resolve => broker.publish(packet, () => resolve()))
  }
  const listener = createServer(broker.handle).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  onTestFinished(() => {
    broker.close()
    listener.close()
  })
  return `mqtt://127.0.0.1:${(listener.address() as AddressInfo).port}`
}

it.each([
  ['{"maxPacketSize":4096}', 4096 - 56 - 4],
  ['{"maxPacketSize":1024}', 1024 - 56 - 4],
  // No limit of a server: by them, every record would be refused.
  ['{"maxPacketSize":0}', Number.POSITIVE_INFINITY],
  ['{"maxPacketSize":-4096}', Number.POSITIVE_INFINITY],
  ['{"maxPacketSize":"4096"}', Number.POSITIVE_INFINITY],
  ['{"maxPacketSize":4096.5}', Number.POSITIVE_INFINITY],
  ['none', Number.POSITIVE_INFINITY],
])('a connection to a central server with the limits %s has room for %d bytes', async (limits, expected) => {
  const token = createToken()
  const url = await greeting(token, limits)
  const connection = await Connection.open({ url, redactor: new Redactor() }, token, 'forward.test')
  onTestFinished(() => connection.close())
  expect(connection.longestPayload).toBe(expected)
})
