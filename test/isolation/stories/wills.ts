import type { Thing } from '../../helpers/http-client.ts'
import { expectUnforged, forgery, type World } from '../world.ts'
import { login, type MqttStory } from './story.ts'

const will = (thing: Thing) => ({
  topic: `things/${thing.thingId}/write`,
  payload: forgery('a will'),
  qos: 1 as const,
})

/** Wills of clients whose credential dies while they are connected. */
export const willStories: readonly MqttStory[] = [
  {
    name: 'the will of a removed session is dropped',
    async run(world, way) {
      const thing = await world.operator.createThing()
      const session = await world.operator.createSession({ things: [thing.thingId], access: 'write' })
      const client = await login(world, way, session.sessionToken, { will: will(thing) })
      await world.operator.removeSession(session.sessionId)
      await client.untilClosed()
      await expectNothingForged(world, thing)
    },
  },
  {
    name: 'the will of a removed token is dropped',
    async run(world, way) {
      const thing = await world.operator.createThing()
      const second = await world.operator.addToken(thing)
      const client = await login(world, way, second.thingToken, { will: will(thing) })
      const topic = `things/${second.thingToken}/write`
      const anonymous = await login(world, way, undefined, { will: { ...will(thing), topic } })
      await world.operator.removeToken(thing, second.tokenId)
      await client.untilClosed()
      await anonymous.destroy()
      await expectNothingForged(world, thing)
    },
  },
  {
    name: 'the will of an expired session is dropped',
    async run(world, way) {
      const thing = await world.operator.createThing()
      const minted = await world.operator.mint(thing, { access: 'write', expiresIn: 5 })
      const client = await login(world, way, minted.sessionToken, { will: will(thing) })
      await client.untilClosed()
      await expectNothingForged(world, thing)
    },
  },
]

/** Now and when all is over. */
async function expectNothingForged(world: World, thing: Thing): Promise<void> {
  await expectUnforged(world, thing)
  world.unforged.push(thing)
}
