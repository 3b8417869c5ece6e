import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { DoorService, writeTopicOf } from '../door-service.ts'
import { isMark, latestOverHttp, messagesOf, passed, post } from '../messages.ts'

/** Every way to become the latest of a resource, or not to be it any more. */

const keys = ['a', 'b', 'c', '$geo', '$settings'] as const
/** Few, so that they meet. */
const datetimes = ['20260101000000', '20260102000000', '20260103000000'] as const

const datetime = fc.option(fc.constantFrom(...datetimes), { nil: undefined, freq: 4 })
const ordinary = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  value: fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constantFrom('x', { y: [1] }, true)),
  datetime,
})
const coordinate = fc.integer({ min: -90, max: 90 })
const geo = fc.record({
  key: fc.constant('$geo'),
  value: fc.tuple(coordinate, coordinate),
  datetime,
})
const settings = fc.record({
  key: fc.constantFrom('$settings.m', '$settings.n.o'),
  value: fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constant('x')),
  datetime,
})
const record = fc.oneof({ weight: 5, arbitrary: ordinary }, { weight: 1, arbitrary: geo }, settings)

const write = fc.record({
  is: fc.constant('write' as const),
  door: fc.constantFrom('HTTP', 'MQTT'),
  values: fc.array(record, { minLength: 1, maxLength: 4 }),
  flags: fc.constantFrom({}, {}, {}, { store: false }, { broadcast: false }),
  /** How often it is sent. */
  times: fc.constantFrom(1, 1, 2),
})
const removal = fc.record({
  is: fc.constant('removal' as const),
  key: fc.constantFrom(...keys),
  startDate: fc.option(fc.constantFrom(...datetimes), { nil: undefined, freq: 2 }),
  endDate: fc.option(fc.constantFrom(...datetimes), { nil: undefined, freq: 2 }),
})
const restart = fc.record({ is: fc.constant('restart' as const) })
const step = fc.oneof(
  { weight: 12, arbitrary: write },
  { weight: 4, arbitrary: removal },
  { weight: 1, arbitrary: restart },
)

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

async function take(service: DoorService, thing: Thing, step: Step): Promise<DoorService> {
  if (step.is === 'restart') return await service.restart()
  if (step.is === 'removal') {
    const { key, startDate, endDate } = step
    const range = Object.entries({ startDate, endDate }).flatMap(([name, at]) =>
      at ? [`${name}=${at}`] : [],
    )
    const url = `${service.url}/v2/things/${thing.thingId}/resources/${key}?${range.join('&')}`
    const headers = { authorization: `Bearer ${service.adminKey}` }
    expect([200, 404]).toContain((await fetch(url, { method: 'DELETE', headers })).status)
    return service
  }
  const { door, values, flags, times } = step
  const body = { values, ...flags }
  for (let sent = 0; sent < times; sent++) {
    if (door === 'HTTP') await post(service, thing, body)
    else await (await service.connectThing(thing)).publish(writeTopicOf(thing.thingToken), body)
  }
  return service
}

/** By topic, what a new subscriber to these filters gets as retained. */
async function retained(
  service: DoorService,
  things: readonly Thing[],
  who: 'thing' | 'admin',
  filter: string,
): Promise<Record<string, string>> {
  const [thing] = things
  if (!thing) throw new Error('no thing')
  const client =
    who === 'admin'
      ? await service.connect({ username: 'operator', password: service.adminKey })
      : await service.connectThing(thing)
  await client.subscribeAll([filter, `things/${thing.thingId}/values/mark`])
  await passed(service, thing, client)
  await client.disconnect()
  const messages = messagesOf(client).filter(message => !isMark(message) && !message.topic.endsWith('/date'))
  const byTopic = Object.fromEntries(messages.map(({ topic, payload }) => [topic, payload]))
  // Each of them once, and with RETAIN.
  expect(messages.map(({ retain }) => retain)).toEqual(Object.keys(byTopic).map(() => true))
  return byTopic
}

async function expectViewIsRest(service: DoorService, things: readonly Thing[]): Promise<void> {
  await service.things.magic.whenApplied()
  const rest: Record<string, string> = {}
  for (const thing of things) {
    for (const key of keys) {
      const payload = await latestOverHttp(service, thing, key)
      if (payload !== undefined) rest[`things/${thing.thingId}/values/${key}`] = payload
    }
  }
  const of = (isMeant: (topic: string) => boolean) =>
    Object.fromEntries(Object.entries(rest).filter(([topic]) => isMeant(topic)))
  for (const key of keys) {
    const every = await retained(service, things, 'admin', `things/+/values/${key}`)
    expect(every).toEqual(of(topic => topic.endsWith(`/${key}`)))
  }
  expect(await retained(service, things, 'admin', 'things/+/values/#')).toEqual(rest)
  const [thing] = things
  const start = `things/${thing?.thingId}/`
  for (const filter of ['values/+', 'values/#', '#']) {
    expect(await retained(service, things, 'thing', start + filter)).toEqual(
      of(topic => topic.startsWith(start)),
    )
  }
  for (const key of keys) {
    const topic = `${start}values/${key}`
    expect(await retained(service, things, 'thing', topic)).toEqual(of(each => each === topic))
  }
}

it('a new subscriber gets as retained what REST gives, after whatever was written, deleted and restarted', async () => {
  let service = await DoorService.start()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), step), { minLength: 5, maxLength: 20 }), async steps => {
      const things = [await service.createThing(), await service.createThing()]
      for (const [which, step] of steps) {
        const thing = things[which]
        if (thing) service = await take(service, thing, step)
      }
      await expectViewIsRest(service, things)
      for (const { thingId } of things) await service.things.registry.remove(thingId)
    }),
    { numRuns: 15, interruptAfterTimeLimit: 30_000 },
  )
})

it('deletes of a magic resource leave what is retained equal to REST', async () => {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const at = (value: readonly number[], datetime?: string) => ({ key: '$geo', value, datetime })
  await post(service, thing, { values: [at([1, 1], datetimes[0]), at([2, 2], datetimes[2])] })
  await post(service, thing, { values: [{ key: '$settings', value: { a: 1, b: { c: 2 } } }] })
  for (const path of [`$geo?startDate=${datetimes[1]}`, '$settings.b', '$geo', '$settings']) {
    const url = `${service.url}/v2/things/${thing.thingId}/resources/${path}`
    const headers = { authorization: `Bearer ${service.adminKey}` }
    const { status } = await fetch(url, { method: 'DELETE', headers })
    expect(status).toBe(200)
    await expectViewIsRest(service, [thing])
  }
})
