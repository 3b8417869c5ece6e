import { expect } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import { login, messagesOf, subackIn, untilClosed, untilValue, valuesOf, writeValue } from './clients.ts'
import { isolationTests, versionsOf, type Way, type World } from './world.ts'

/** Kept sessions of clients that are away, and who might come back in their place. */

const { mqtt } = isolationTests()

mqtt("a persistent session is neither stolen nor wiped under another's client id", async (world, way) => {
  const [thing, other] = [await world.operator.createThing(), await world.operator.createThing()]
  const kept = { clientId: 'kept', clean: false }
  const session = await world.operator.createSession({ things: [thing.thingId], access: 'read' })
  const first = await login(world, way, thing.thingToken, kept)
  await first.subscribe(`things/${thing.thingToken}/values/n`)
  await first.disconnect()
  await writeValue(world, thing, 'missed')
  for (const credential of [other.thingToken, session.sessionToken, world.server.adminKey, undefined]) {
    for (const version of versionsOf(way)) {
      for (const clean of credential === undefined ? [true] : [false, true]) {
        const thief = await login(world, version, credential, { clientId: 'kept', clean })
        expect(thief.connack.sessionPresent).toBe(false)
        expect(await valuesOf(thief)).toEqual([])
        await thief.disconnect()
      }
    }
  }
  const back = await login(world, way, thing.thingToken, kept)
  expect(back.connack.sessionPresent).toBe(true)
  await untilValue(back, 'missed')
  expect(await valuesOf(back)).toEqual(['missed'])
  await back.disconnect()
})

mqtt(
  "a dashboard's persistent session is not that of another dashboard of the same thing",
  async (world, way) => {
    const thing = await world.operator.createThing()
    const terms = { things: [thing.thingId], access: 'read' } as const
    const [mine, theirs] = [
      await world.operator.createSession(terms),
      await world.operator.createSession(terms),
    ]
    const kept = { clientId: 'kept', clean: false }
    const first = await login(world, way, mine.sessionToken, kept)
    await first.subscribe('things/+/values/#')
    await first.disconnect()
    await writeValue(world, thing, 'missed')
    for (const version of versionsOf(way)) {
      const thief = await login(world, version, theirs.sessionToken, { clientId: 'kept', clean: false })
      expect(await valuesOf(thief)).toEqual([])
      await thief.disconnect()
    }
    const back = await login(world, way, mine.sessionToken, kept)
    await untilValue(back, 'missed')
    await back.disconnect()
  },
)

mqtt('a client id is taken over by the same principal alone', async (world, way) => {
  const [thing, other] = [await world.operator.createThing(), await world.operator.createThing()]
  const client = await login(world, way, thing.thingToken, { clientId: 'same' })
  const foreign = await login(world, way, other.thingToken, { clientId: 'same' })
  const minted = await world.operator.mint(thing, { access: 'write' })
  const session = await login(world, way, minted.sessionToken, { clientId: 'same' })
  const anonymous = await login(world, way, undefined, { clientId: 'same' })
  for (const undisturbed of [client, foreign, session, anonymous]) await undisturbed.ping()
  const again = await login(world, way, thing.thingToken, { clientId: 'same' })
  await untilClosed(client, way, 0x8e)
  for (const undisturbed of [again, foreign, session, anonymous]) await undisturbed.ping()
  for (const open of [again, foreign, session, anonymous]) await open.disconnect()
})

mqtt('anonymous clients of two things with one client id leave each other alone', async (world, way) => {
  const [thing, other] = [await world.operator.createThing(), await world.operator.createThing()]
  const client = await login(world, way, undefined, { clientId: 'modem' })
  await client.subscribe(`things/${thing.thingToken}/values/n`)
  const foreign = await login(world, way, undefined, { clientId: 'modem' })
  await foreign.publish(`things/${other.thingToken}/write`, { values: [{ key: 'n', value: 'foreign' }] })
  await writeValue(world, thing, 'own')
  await untilValue(client, 'own')
  expect(await valuesOf(client)).toEqual(['own'])
  expect(await valuesOf(foreign)).toEqual([])
  for (const open of [client, foreign]) await open.disconnect()
})

mqtt(
  'the filters that a mixed SUBSCRIBE refuses leave no trace in a persistent session',
  async (world, way) => {
    const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
    const filters = [
      `things/${theirs.thingId}/values/#`,
      `things/${mine.thingId}/values/#`,
      '#',
      `v2/things/${theirs.thingId}`,
      'things/+/values/#',
      `$share/g/things/${theirs.thingId}/values/#`,
    ]
    const client = { way, credential: mine.thingToken, clientId: 'mixed' }
    const granted = [128, 1, 128, 128, 128, 128]
    await expectMineOnly(world, { theirs, mine }, client, { filters, granted })
  },
)

mqtt('a session of some things sees no others through +, retained, live or missed', async (world, way) => {
  const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
  const { sessionToken } = await world.operator.createSession({ things: [mine.thingId], access: 'read' })
  const client = { way, credential: sessionToken, clientId: 'some' }
  const filters = ['things/+/values/#', `things/${theirs.thingId}/#`]
  await expectMineOnly(world, { theirs, mine }, client, { filters, granted: [1, 128] })
})

mqtt('a session of some things gets no whole writes of others through +', async (world, way) => {
  const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
  const { sessionToken } = await world.operator.createSession({ things: [mine.thingId], access: 'write' })
  const client = await login(world, way, sessionToken, { clientId: 'whole', clean: false })
  expect(await client.subscribe('v2/things/+')).toBe(1)
  await writeValue(world, theirs, 'theirs')
  await writeValue(world, mine, 'mine')
  await untilValue(client, 'mine')
  expect(await valuesOf(client)).toEqual(['mine'])
  await client.disconnect()
  await writeValue(world, theirs, 'theirs, missed')
  await writeValue(world, mine, 'mine, missed')
  const back = await login(world, way, sessionToken, { clientId: 'whole', clean: false })
  await untilValue(back, 'mine, missed')
  expect(await valuesOf(back)).toEqual(['mine, missed'])
  await back.disconnect()
})

mqtt('a read session gets no refused writes through #', async (world, way) => {
  const thing = await world.operator.createThing()
  const terms = { things: [thing.thingId], access: 'read' } as const
  const { sessionToken } = await world.operator.createSession(terms)
  const client = await login(world, way, sessionToken, { clientId: 'curious', clean: false })
  expect(await client.subscribeAll([`things/${thing.thingId}/#`, 'things/+/#'])).toEqual([1, 1])
  const device = await login(world, way, thing.thingToken)
  await device.publish(`things/${thing.thingToken}/write`, 'refused')
  await device.publish(`things/${thing.thingToken}/write`, { values: [{ key: 'n', value: 'taken' }] })
  await untilValue(client, 'taken')
  const topics = (await messagesOf(client)).map(({ topic }) => topic)
  expect(topics).not.toContain(`things/${thing.thingId}/errors`)
  for (const open of [client, device]) await open.disconnect()
})

mqtt("an UNSUBSCRIBE of another's filter takes nothing from it", async (world, way) => {
  const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
  const client = await login(world, way, theirs.thingToken, { clientId: 'same', clean: false })
  await client.subscribe(`things/${theirs.thingId}/values/#`)
  const attacker = await login(world, way, mine.thingToken, { clientId: 'same', clean: false })
  const unsubscriptions = [`things/${theirs.thingId}/values/#`, '#', 'things/+/#']
  await attacker.unsubscribe(...unsubscriptions)
  await writeValue(world, theirs, 'still')
  await untilValue(client, 'still')
  for (const open of [client, attacker]) await open.disconnect()
})

mqtt("a PUBREL for another's packet id does not release it", async (world, way) => {
  const [theirs, mine] = [await world.operator.createThing(), await world.operator.createThing()]
  const kept = { clientId: 'same', clean: false }
  const client = await login(world, way, theirs.thingToken, kept)
  const topic = `things/${theirs.thingToken}/write`
  const body = { values: [{ key: 'n', value: 'once' }] }
  await client.publishUntilPubrec(topic, body, { messageId: 7 })
  const attacker = await login(world, way, mine.thingToken, kept)
  await attacker.release(7)
  // Were it released, this would be another write.
  await client.publishUntilPubrec(topic, body, { messageId: 7, dup: true })
  await client.release(7)
  const path = `${world.server.url}/v2/things/${theirs.thingToken}/resources/n?limit=10`
  expect(await (await fetch(path)).json()).toHaveLength(1)
  for (const open of [client, attacker]) await open.disconnect()
})

/** A persistent session with these filters sees of the two things only `mine`: retained, live, missed, and live again. */
async function expectMineOnly(
  world: World,
  { theirs, mine }: { readonly theirs: Thing; readonly mine: Thing },
  client: { readonly way: Way; readonly credential: string; readonly clientId: string },
  { filters, granted }: { readonly filters: readonly string[]; readonly granted: readonly number[] },
): Promise<void> {
  const { way, credential, clientId } = client
  const kept = { clientId, clean: false }
  await writeValue(world, theirs, 'their latest')
  await writeValue(world, mine, 'my latest')
  const first = await login(world, way, credential, kept)
  expect(await first.subscribeAll(filters)).toEqual(subackIn(way, filters, granted))
  await untilValue(first, 'my latest')
  await writeValue(world, theirs, 'theirs, live')
  await writeValue(world, mine, 'mine, live')
  await untilValue(first, 'mine, live')
  expect(await valuesOf(first, 'retained')).toEqual(['my latest'])
  expect(await valuesOf(first)).toEqual(['mine, live'])
  await first.disconnect()
  await writeValue(world, theirs, 'theirs, missed')
  await writeValue(world, mine, 'mine, missed')
  const back = await login(world, way, credential, kept)
  expect(back.connack.sessionPresent).toBe(true)
  await untilValue(back, 'mine, missed')
  await writeValue(world, theirs, 'theirs, live again')
  await writeValue(world, mine, 'mine, live again')
  await untilValue(back, 'mine, live again')
  expect(await valuesOf(back)).toEqual(['mine, missed', 'mine, live again'])
  expect(await valuesOf(back, 'retained')).toEqual([])
  await back.disconnect()
}
