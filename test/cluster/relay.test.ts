import { beforeAll, describe, test } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { startNode } from '../helpers/cluster.ts'
import { ask, type Session } from '../helpers/http-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { startRedisCluster } from '../helpers/redis-cluster.ts'
import { startRedis } from '../helpers/redis-server.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { duties } from '../mqtt/relay/duties.ts'
import { everything, type House } from '../mqtt/relay/house.ts'

/** What a broker owes its clients, where publisher and subscriber are at two processes. */

const environment = { THINGWIRE_TOPICS: 'house/#', THINGWIRE_DRAIN_TIMEOUT: '60000' }
const stores = { Redis: startRedis, 'a Redis Cluster': startRedisCluster }

describe.each(Object.entries(stores))('on %s with two processes', (_name, startStore) => {
  let house: House

  beforeAll(async () => {
    const ends: (() => Promise<unknown>)[] = []
    const end = async () => {
      for (const each of ends.toReversed()) await each()
    }
    try {
      const store = await startStore()
      ends.push(() => store.end())
      const adminKey = createToken()
      const start = async () => {
        const node = await startNode(store.url, adminKey, { environment })
        ends.push(() => node.kill())
        return node
      }
      house = houseOf(await start(), await start())
    } catch (error) {
      await end()
      throw error
    }
    return end
  })

  test.each(duties.map(({ name, run }, place) => ({ name, run, place })))(
    '$name',
    async ({ run, place }) => await run(house, `house/${place}`),
  )
})

function houseOf(here: ServerProcess, there: ServerProcess): House {
  const passwordFor: House['passwordFor'] = async topics => {
    const body = { things: [], access: 'read', topics }
    return (await ask<Session>(here, 'POST', '/v2/admin/sessions', body)).sessionToken
  }
  return {
    maxPacketSize: 1_048_576,
    passwordFor,
    connect: async (node, options) =>
      await mqttOfTest({
        url: (node === 'here' ? here : there).mqttUrl,
        username: 'x',
        password: options?.password ?? (await passwordFor(everything)),
        ...options,
      }),
  }
}
