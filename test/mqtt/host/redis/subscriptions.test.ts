import type { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { redisClientOfTest, redisOfTest } from '../../../helpers/redis-of-test.ts'
import { plantOfTest } from './plant.ts'

it('a node of a host makes no ready check on the connection that subscribes, which could lose a subscription', async () => {
  const { url } = await redisOfTest()
  const monitor = await ((await redisClientOfTest(url)) as Redis).monitor()
  const commands = new Map<string, string[]>()
  monitor.on('monitor', (_time: string, [command = '']: string[], source: string) => {
    commands.set(source, [...(commands.get(source) ?? []), command.toLowerCase()])
  })
  await plantOfTest(url)
  const subscribing = () => [...commands.values()].filter(sent => sent.includes('psubscribe'))
  await expect
    .poll(
      () =>
        subscribing()
          .flat()
          .filter(command => command === 'psubscribe').length,
    )
    .toBe(4)
  monitor.disconnect()
  expect(subscribing()).toHaveLength(1)
  expect(subscribing().flat()).not.toContain('info')
})
