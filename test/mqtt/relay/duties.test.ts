import { test } from 'vitest'
import { DoorService } from '../door-service.ts'
import { duties } from './duties.ts'
import { everything, type House } from './house.ts'

async function startHouse(): Promise<House> {
  const service = await DoorService.start({ topics: ['house/#'], drainTimeout: 60_000 })
  const passwordFor: House['passwordFor'] = async topics =>
    (await service.things.sessions.create([], { access: 'read', topics })).sessionToken
  return {
    maxPacketSize: 1_048_576,
    passwordFor,
    connect: async (_node, options) =>
      await service.connect({ username: 'x', password: await passwordFor(everything), ...options }),
  }
}

test.each(duties.map(({ name, run }, place) => ({ name, run, place })))(
  'on the embedded store $name',
  async ({ run, place }) => await run(await startHouse(), `house/${place}`),
)
