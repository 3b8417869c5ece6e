import { expect, it } from 'vitest'
import { ask, createThing, write } from '../helpers/http-client.ts'
import { runCli } from '../helpers/server-process.ts'
import { eventually } from '../helpers/waiting.ts'
import { twoServersOfTest } from './two-servers-of-test.ts'

const value = (key: string, given: number) => ({ values: [{ key, value: given }] })

it('activates new things with a code, once each, and keeps their tokens', async () => {
  const servers = await twoServersOfTest(0)
  const { activationCodes } = await ask<{ activationCodes: string[] }>(
    servers.central,
    'POST',
    '/v2/admin/activation-codes',
    { uses: 3 },
  )
  await servers.writeMap({ '*': activationCodes[0] })
  const edge = await servers.startEdge()
  const things = [await createThing(edge), await createThing(edge), await createThing(edge)]
  for (const [place, thing] of things.entries()) await write(edge, thing, value('place', place))
  await servers.untilForwarded()
  await edge.kill()
  await servers.startEdge()
  for (const [place, thing] of things.entries()) await write(servers.edge, thing, value('place', place))
  await servers.untilForwarded()
  const { things: there } = await ask<{ things: { thingId: string }[] }>(
    servers.central,
    'GET',
    '/v2/admin/things',
  )
  expect(there.length).toBe(3)
  const { activated } = await servers.forwarding()
  expect(activated.map(each => each.thingId).sort()).toEqual(things.map(({ thingId }) => thingId).sort())
  expect(activated.map(each => each.there).sort()).toEqual(there.map(({ thingId }) => thingId).sort())
  const args = ['forwarding', '--url', servers.edge.url, '--data-dir', servers.edgeDir]
  const { stdout } = await runCli({ args })
  for (const { thingId, there } of activated)
    expect(stdout).toMatch(new RegExp(`^${thingId} .*${there}$`, 'm'))
  const places = []
  for (const { thingId } of there) {
    const path = `/v2/things/${thingId}/resources/place?limit=10`
    const records = await ask<{ value: number }[]>(servers.central, 'GET', path)
    places.push(records.map(record => record.value))
  }
  expect(places.sort()).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ])
})

it('holds back a thing for which its activation code is used up, until the map has another code', async () => {
  const servers = await twoServersOfTest(0)
  const codeFor = async (uses: number) => {
    const path = '/v2/admin/activation-codes'
    const { activationCodes } = await ask<{ activationCodes: string[] }>(servers.central, 'POST', path, {
      uses,
    })
    return { '*': activationCodes[0] }
  }
  await servers.writeMap(await codeFor(1))
  const edge = await servers.startEdge()
  for (const thing of [await createThing(edge), await createThing(edge)])
    await write(edge, thing, value('n', 1))
  const why = 'it refuses the activation code: it is unknown, used up or revoked'
  expect(await eventually(async () => (await servers.forwarding()).held.length === 1)).toBe(true)
  expect((await servers.forwarding()).held).toMatchObject([{ why }])
  await servers.writeMap(await codeFor(1))
  await servers.untilForwarded()
  expect((await servers.forwarding()).held).toEqual([])
})
