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
