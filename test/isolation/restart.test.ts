import { describe, expect, it } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { operatorOf, readAndWrite } from './cast.ts'
import {
  expectRefused,
  forgery,
  login,
  publishAsOperator,
  publishHiddenAndShown,
  subackIn,
  textsOf,
  thingWithTopics,
  untilText,
  untilValue,
  valuesOf,
  writeValue,
} from './clients.ts'
import { environment, expectUnforged, type RunningServer, spelled, versionsOf, type Way } from './world.ts'

/** Milliseconds from the start after which kept wills are written; more than a session of this file lives. */
const willGrace = 5_000
/** In version 5 a will that is kept waits for its delay, too. */
const delayed = { properties: { willDelayInterval: 1 } }

/** A trick that goes on when the server has been started again. */
interface RestartStory {
  readonly name: string
  /** @returns what to do then */
  readonly before: (world: RunningServer, way: Way) => Promise<(world: RunningServer) => Promise<void>>
}

const stories: readonly RestartStory[] = [
  {
    name: 'the filters that a mixed SUBSCRIBE refuses leave no trace in a restored session',
    async before(world, way) {
      const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
      const kept = { clientId: 'mixed', clean: false }
      const filters = [
        '#',
        `things/${mine.thingId}/values/#`,
        `things/${theirs.thingId}/values/#`,
        'things/+/#',
      ]
      const client = await login(world, way, mine.thingToken, kept)
      expect(await client.subscribeAll(filters)).toEqual(subackIn(way, filters, [128, 1, 128, 128]))
      await client.disconnect()
      await writeValue(world, theirs, 'theirs, missed')
      await writeValue(world, mine, 'mine, missed')
      return restarted => expectMineOnly(restarted, way, { theirs, mine }, mine.thingToken, kept)
    },
  },
  {
    name: 'a restored session of some things sees no others through +',
    async before(world, way) {
      const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
      const { sessionToken } = await world.operator.createSession({ things: [mine.thingId], access: 'read' })
      const kept = { clientId: 'some', clean: false }
      const client = await login(world, way, sessionToken, kept)
      expect(await client.subscribe('things/+/values/#')).toBe(1)
      await client.disconnect()
      await writeValue(world, theirs, 'theirs, missed')
      await writeValue(world, mine, 'mine, missed')
      return restarted => expectMineOnly(restarted, way, { theirs, mine }, sessionToken, kept)
    },
  },
  {
    name: 'a restored session is that of its owner alone',
    async before(world, way) {
      const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
      const kept = { clientId: `kept ${way.protocolVersion}`, clean: false }
      const client = await login(world, way, theirs.thingToken, kept)
      await client.subscribe(`things/${theirs.thingToken}/values/#`)
      await client.disconnect()
      await writeValue(world, theirs, 'missed')
      return async restarted => {
        for (const credential of [mine.thingToken, restarted.server.adminKey]) {
          const thief = await login(restarted, way, credential, kept)
          expect(thief.connack.sessionPresent).toBe(false)
          expect(await valuesOf(thief)).toEqual([])
          await thief.disconnect()
        }
        const back = await login(restarted, way, theirs.thingToken, kept)
        await untilValue(back, 'missed')
        await back.disconnect()
      }
    },
  },
  {
    name: 'a session that expires while the server is down is not restored',
    async before(world, way) {
      const thing = await world.operator.createThing()
      const terms = { things: [thing.thingId], access: 'read', expiresIn: 3 } as const
      const { sessionToken, expiresAt } = await world.operator.createSession(terms)
      const client = await login(world, way, sessionToken, { clientId: 'kept', clean: false })
      await client.subscribe('things/+/values/#')
      await client.destroy()
      return async restarted => {
        const left = Date.parse(expiresAt) - Date.now()
        if (left > 0) await new Promise(resolve => setTimeout(resolve, left + 50))
        await expectRefused(restarted, way, sessionToken, 'kept')
      }
    },
  },
  {
    name: 'the kept will of a session that expires while the server is down is dropped',
    async before(world, way) {
      const [thing, witness] = [await world.operator.createThing(), await world.operator.createThing()]
      const { sessionToken, expiresAt } = await world.operator.mint(thing, { access: 'write', expiresIn: 3 })
      const willOn = ({ thingId }: Thing) => ({
        ...{ clientId: 'willful', clean: false },
        will: { ...delayed, topic: `things/${thingId}/write`, payload: forgery('a will'), qos: 1 as const },
      })
      await login(world, way, sessionToken, willOn(thing))
      await login(world, way, witness.thingToken, willOn(witness))
      return async restarted => {
        const left = Date.parse(expiresAt) - Date.now()
        expect(left).toBeLessThan(willGrace)
        const observer = await login(restarted, way, witness.thingToken)
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
    async before(world, way) {
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
          await expectRefused(restarted, way, credential, 'kept')
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
  {
    name: 'a restored session on other topics is that of its owner alone, within what it may still read',
    async before(world, way) {
      const [thing, base] = await thingWithTopics(world)
      const [other] = await thingWithTopics(world)
      const kept = { clientId: `house ${way.protocolVersion}`, clean: false }
      const client = await login(world, way, thing.thingToken, kept)
      const filters = [`${base}/#`, `${base}/a/shown`, '#']
      expect(await client.subscribeAll(filters)).toEqual(subackIn(way, filters, [1, 1, 128]))
      await client.disconnect()
      await publishHiddenAndShown(world, way, base, 'missed')
      await world.operator.setTopics(thing, readAndWrite(`${base}/+/shown`))
      return async restarted => {
        for (const credential of [other.thingToken, restarted.server.adminKey]) {
          const thief = await login(restarted, way, credential, kept)
          expect(thief.connack.sessionPresent).toBe(false)
          expect(await textsOf(thief)).toEqual([])
          await thief.disconnect()
        }
        const back = await login(restarted, way, thing.thingToken, kept)
        expect(back.connack.sessionPresent).toBe(true)
        await publishHiddenAndShown(restarted, way, base, 'live')
        await untilText(back, 'live')
        expect(await textsOf(back)).toEqual(['missed', 'live'])
        await back.disconnect()
      }
    },
  },
  {
    name: 'the kept will on other topics of a session that expires while the server is down is dropped',
    async before(world, way) {
      const [, base] = await thingWithTopics(world)
      const [witness, witnessed] = await thingWithTopics(world)
      const terms = { things: [], access: 'read', topics: readAndWrite(`${base}/#`), expiresIn: 3 } as const
      const { sessionToken } = await world.operator.createSession(terms)
      const willOn = (topic: string) => ({
        ...{ clientId: 'willful', clean: false },
        will: { ...delayed, topic, payload: 'a will', qos: 1 as const, retain: true },
      })
      await login(world, way, sessionToken, willOn(`${base}/a`))
      await login(world, way, witness.thingToken, willOn(`${witnessed}/a`))
      return async restarted => {
        const observer = await login(restarted, way, restarted.server.adminKey)
        expect(await observer.subscribeAll([`${base}/#`, `${witnessed}/#`])).toEqual([1, 1])
        // Both wills are due at one time, and this one is not dropped.
        await untilText(observer, 'a will')
        await publishAsOperator(restarted, way, `${base}/end`, 'end')
        await untilText(observer, 'end')
        expect(await textsOf(observer)).toEqual(['a will', 'end'])
        await observer.disconnect()
      }
    },
  },
]

/** What must not come back with a restart: all stories are begun in both versions, the server ends, all are brought to their end. */
describe.each(['stop', 'kill'] as const)('a server that is started again after %s', end => {
  it('brings nothing back that was refused, revoked or over', async () => {
    const dataDir = await temporaryDirectory()
    const first = await start(dataDir)
    const begun = []
    for (const way of versionsOf({ transport: 'TCP' })) {
      for (const { name, before } of stories)
        begun.push({ name: `${name}, over ${spelled(way)}`, after: await before(first, way) })
    }
    await first.server[end]()
    const second = await start(dataDir)
    for (const { name, after } of begun) {
      await after(second).catch((cause: unknown) => expect.fail(`${name}: ${cause}`))
    }
  })
})

async function start(dataDir: string): Promise<RunningServer> {
  const settings = { ...environment, THINGWIRE_WILL_GRACE: String(willGrace) }
  const server = await serverOfTest({ dataDir, environment: settings })
  return { server, operator: operatorOf(server) }
}

/** The session is back, and gets what it missed and what is live of `mine`. */
async function expectMineOnly(
  world: RunningServer,
  way: Way,
  { theirs, mine }: { readonly theirs: Thing; readonly mine: Thing },
  credential: string,
  kept: { readonly clientId: string; readonly clean: boolean },
): Promise<void> {
  const back = await login(world, way, credential, kept)
  expect(back.connack.sessionPresent).toBe(true)
  await writeValue(world, theirs, 'theirs, live')
  await writeValue(world, mine, 'mine, live')
  await untilValue(back, 'mine, live')
  expect(await valuesOf(back)).toEqual(['mine, missed', 'mine, live'])
  await back.disconnect()
}
