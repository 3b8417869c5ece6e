import { expect } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { connectMqtt } from '../../helpers/mqtt-client.ts'
import { expectUnforged, forgery, type World } from '../world.ts'
import { login, untilValue, valuesOf, writeValue } from './story.ts'

/** Milliseconds from the start after which kept wills are written; more than a session of this folder lives. */
export const willGrace = 5_000

/** A server that can be another one of the same data later. */
export type Restarted = Pick<World, 'server' | 'operator'>

/** A trick that goes on when the server has been started again. */
export interface RestartStory {
  readonly name: string
  /** @returns what to do then */
  readonly before: (world: Restarted) => Promise<(world: Restarted) => Promise<void>>
}

export const restartStories: readonly RestartStory[] = [
  {
    name: 'the filters that a mixed SUBSCRIBE refuses leave no trace in a restored session',
    async before(world) {
      const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
      const kept = { clientId: 'mixed', clean: false }
      const filters = [
        '#',
        `things/${mine.thingId}/values/#`,
        `things/${theirs.thingId}/values/#`,
        'things/+/#',
      ]
      const client = await login(world, 'TCP', mine.thingToken, kept)
      expect(await client.subscribeAll(filters)).toEqual([128, 1, 128, 128])
      await client.disconnect()
      await writeValue(world, theirs, 'theirs, missed')
      await writeValue(world, mine, 'mine, missed')
      return restarted => expectMineOnly(restarted, { theirs, mine }, mine.thingToken, kept)
    },
  },
  {
    name: 'a restored session of some things sees no others through +',
    async before(world) {
      const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
      const { sessionToken } = await world.operator.createSession({ things: [mine.thingId], access: 'read' })
      const kept = { clientId: 'some', clean: false }
      const client = await login(world, 'TCP', sessionToken, kept)
      expect(await client.subscribe('things/+/values/#')).toBe(1)
      await client.disconnect()
      await writeValue(world, theirs, 'theirs, missed')
      await writeValue(world, mine, 'mine, missed')
      return restarted => expectMineOnly(restarted, { theirs, mine }, sessionToken, kept)
    },
  },
  {
    name: 'a restored session is that of its owner alone',
    async before(world) {
      const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
      const kept = { clientId: 'kept', clean: false }
      const client = await login(world, 'TCP', theirs.thingToken, kept)
      await client.subscribe(`things/${theirs.thingToken}/values/#`)
      await client.disconnect()
      await writeValue(world, theirs, 'missed')
      return async restarted => {
        for (const credential of [mine.thingToken, restarted.server.adminKey]) {
          const thief = await login(restarted, 'TCP', credential, kept)
          expect(thief.connack.sessionPresent).toBe(false)
          expect(await valuesOf(thief)).toEqual([])
          await thief.disconnect()
        }
        const back = await login(restarted, 'TCP', theirs.thingToken, kept)
        await untilValue(back, 'missed')
        await back.disconnect()
      }
    },
  },
  {
    name: 'a session that expires while the server is down is not restored',
    async before(world) {
      const thing = await world.operator.createThing()
      const terms = { things: [thing.thingId], access: 'read', expiresIn: 3 } as const
      const { sessionToken, expiresAt } = await world.operator.createSession(terms)
      const client = await login(world, 'TCP', sessionToken, { clientId: 'kept', clean: false })
      await client.subscribe('things/+/values/#')
      await client.destroy()
      return async restarted => {
        const left = Date.parse(expiresAt) - Date.now()
        if (left > 0) await new Promise(resolve => setTimeout(resolve, left + 50))
        await expectRefused(restarted, sessionToken)
      }
    },
  },
  {
    name: 'the kept will of a session that expires while the server is down is dropped',
    async before(world) {
      const [thing, witness] = [await world.operator.createThing(), await world.operator.createThing()]
      const { sessionToken, expiresAt } = await world.operator.mint(thing, { access: 'write', expiresIn: 3 })
      const willOn = ({ thingId }: Thing) => ({
        will: { topic: `things/${thingId}/write`, payload: forgery('a will'), qos: 1 as const },
      })
      await login(world, 'TCP', sessionToken, willOn(thing))
      await login(world, 'TCP', witness.thingToken, willOn(witness))
      return async restarted => {
        const left = Date.parse(expiresAt) - Date.now()
        expect(left).toBeLessThan(willGrace)
        const observer = await login(restarted, 'TCP', witness.thingToken)
        await observer.subscribe(`things/${witness.thingToken}/values/forged`)
        // Both wills are due at one time, and this one is not dropped.
        await untilValue(observer, 'a will')
        await expectUnforged(restarted, thing)
        await observer.disconnect()
      }
    },
  },
  {
    name: 'what was revoked before is revoked after',
    async before(world) {
      const [thing, removed] = [await world.operator.createThing(), await world.operator.createThing()]
      const token = await world.operator.addToken(thing)
      const minted = await world.operator.mint({ ...thing, ...token }, { access: 'write' })
      const session = await world.operator.createSession({ things: '*', access: 'write' })
      const mintedOfRemoved = await world.operator.mint(removed, { access: 'read' })
      await world.operator.removeToken(thing, token.tokenId)
      await world.operator.removeSession(session.sessionId)
      await world.operator.removeThing(removed)
      const dead = [token.thingToken, removed.thingToken]
      const deadSessions = [minted, session, mintedOfRemoved].map(({ sessionToken }) => sessionToken)
      return async restarted => {
        for (const credential of [...dead, ...deadSessions]) {
          await expectRefused(restarted, credential)
          const headers = { authorization: credential }
          const read = await fetch(`${restarted.server.url}/v2/things/${thing.thingId}/resources`, {
            headers,
          })
          expect(await read.json()).toMatchObject({ code: 401, reason: 'invalid_session' })
        }
        for (const credential of dead) {
          const read = await fetch(`${restarted.server.url}/v2/things/${credential}/resources`)
          expect(await read.json()).toMatchObject({ code: 401, reason: 'unknown_thing_token' })
        }
        await writeValue(restarted, thing, 'alive')
      }
    },
  },
]

async function expectRefused({ server }: Restarted, password: string): Promise<void> {
  const client = await connectMqtt({
    url: server.mqttUrl,
    clientId: 'kept',
    clean: false,
    username: 'anybody',
    password,
  })
  expect(client.connack).toMatchObject({ returnCode: 4, sessionPresent: false })
  await client.untilClosed()
}

/** The session is back, and gets what it missed and what is live of `mine`. */
async function expectMineOnly(
  world: Restarted,
  { theirs, mine }: { readonly theirs: Thing; readonly mine: Thing },
  credential: string,
  kept: { readonly clientId: string; readonly clean: boolean },
): Promise<void> {
  const back = await login(world, 'TCP', credential, kept)
  expect(back.connack.sessionPresent).toBe(true)
  await writeValue(world, theirs, 'theirs, live')
  await writeValue(world, mine, 'mine, live')
  await untilValue(back, 'mine, live')
  expect(await valuesOf(back)).toEqual(['mine, missed', 'mine, live'])
  await back.disconnect()
}
