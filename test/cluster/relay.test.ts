import { afterAll, beforeAll, test } from 'vitest'
import { type RunningNodes, startNodes } from '../helpers/cluster.ts'
import { ask, type Session } from '../helpers/http-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { duties } from '../mqtt/relay/duties.ts'
import { everything, type House } from '../mqtt/relay/house.ts'

/** What a broker owes its clients, where publisher and subscriber are at two processes. */

let running: RunningNodes
let house: House

beforeAll(async () => {
  const environment = { THINGWIRE_TOPICS: 'house/#', THINGWIRE_DRAIN_TIMEOUT: '60000' }
  running = await startNodes(2, { environment })
  const passwordFor: House['passwordFor'] = async topics => {
    const body = { things: [], access: 'read', topics }
    return (await ask<Session>(running.node(0), 'POST', '/v2/admin/sessions', body)).sessionToken
  }
  house = {
    maxPacketSize: 1_048_576,
    passwordFor,
    connect: async (node, options) =>
      await mqttOfTest({
        url: running.node(node === 'here' ? 0 : 1).mqttUrl,
        username: 'x',
        password: options?.password ?? (await passwordFor(everything)),
        ...options,
      }),
  }
})

afterAll(() => running.end())

test.each(duties.map(({ name, run }, place) => ({ name, run, place })))(
  'on Redis with two processes $name',
  async ({ run, place }) => await run(house, `house/${place}`),
)
