import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Redactor } from '../../src/core/refusals/redactor.ts'
import { Link } from '../../src/forward/link.ts'
import { createThing } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'

it('has 200 connections at most, and gives one to each in turn', async () => {
  const server = await serverOfTest()
  const { thingToken } = await createThing(server)
  const link = new Link({ url: server.mqttUrl, redactor: new Redactor() }, () => {})
  onTestFinished(() => link.close())
  const { signal } = new AbortController()
  const holders = Array.from({ length: 230 }, () => ({ isIdle: false }))
  const counts: number[] = []
  const connecting = holders.map(async (holder, place) => {
    await link.connect(holder, thingToken, `client ${place}`, signal)
    counts.push(link.connections)
  })
  await expect.poll(() => counts.length >= 200 && link.isCrowded).toBe(true)
  for (const holder of holders.slice(0, 30)) holder.isIdle = true
  await Promise.all(connecting)
  expect(Math.max(...counts)).toBe(200)
})

it('ends an attempt at a server that never answers when it is stopped', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const url = `mqtt://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const link = new Link({ url, redactor: new Redactor() }, () => {})
  const stop = new AbortController()
  const accepted = once(silent, 'connection')
  const attempt = link.connect({ isIdle: false }, 'token', 'client', stop.signal)
  const [socket] = await accepted
  const closed = once(socket.resume(), 'close')
  stop.abort()
  await expect(attempt).rejects.toThrow('it does not answer as an MQTT server')
  await closed
})
