import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Aedes } from 'aedes'
import { expect, it, onTestFinished } from 'vitest'
import { Redactor } from '../../src/core/refusals/redactor.ts'
import { createToken } from '../../src/core/token.ts'
import { Connection } from '../../src/forward/connection.ts'
import { Feed } from '../../src/forward/feed.ts'
import { ByteBudget, Link } from '../../src/forward/link.ts'

/** A broker that greets like a Thingwire, with these limits. @param onWrite takes each write */
async function greeting(token: string, limits: string, onWrite = (_payload: string) => {}): Promise<string> {
  const broker = await Aedes.createBroker()
  const messages = { [`things/${token}/limits`]: limits, [`things/${token}/date`]: '[]' }
  for (const [topic, payload] of Object.entries(messages)) {
    const packet = { cmd: 'publish', topic, payload, qos: 0, retain: true, dup: false } as const
    await new Promise<void>(resolve => broker.publish(packet, () => resolve()))
  }
  broker.on('publish', ({ topic, payload }) => {
    if (topic === `things/${token}/write`) onWrite(payload.toString())
  })
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

it.each([
  ['{"maxPacketSize":1048576,"meta":true}', ['n', '$meta', '$meta', '$meta', 'n', '$geo']],
  // Of an older version, which would list each as refused.
  ['{"maxPacketSize":1048576}', ['n', 'n', '$geo']],
])('a feed to a central server with the limits %s sends %j', async (limits, expected) => {
  const token = createToken()
  const sent: string[] = []
  const url = await greeting(token, limits, payload => {
    const { values } = JSON.parse(payload) as { values: { key: string }[] }
    sent.push(...values.map(({ key }) => key))
  })
  const stop = new AbortController()
  const link = new Link({ url, redactor: new Redactor() }, () => {})
  onTestFinished(() => {
    stop.abort()
    link.close()
  })
  const passed: number[] = []
  const problems: unknown[] = []
  const feed = new Feed(
    {
      ...{
        thingId: 'a',
        link,
        budget: new ByteBudget(undefined),
        stop: stop.signal,
        token: async () => token,
      },
      onPassed: commits => passed.push(...commits.map(({ writeNumber }) => writeNumber)),
      onSent: () => {},
      onRefused: refused => problems.push(refused),
      onHeld: (_feed, why) => problems.push(why),
      onFreed: () => {},
    },
    0,
    false,
  )
  const commits = [['n', '$meta'], ['$meta'], ['$meta', 'n'], ['$geo']]
  for (const [index, keys] of commits.entries()) {
    const records = keys.map((key, place) => ({ key, value: '{}', datetime: 0, explicit: false, place }))
    feed.add({
      ...{ thingId: 'a', writeNumber: index + 1, receivedAt: 0, records, latest: [] },
      ...{ stored: true, broadcast: true },
    })
  }
  feed.flush()
  void feed.run()
  await expect.poll(() => passed.toSorted()).toEqual([1, 2, 3, 4])
  expect({ sent, problems, bytes: feed.bytes }).toEqual({ sent: expected, problems: [], bytes: 0 })
})
