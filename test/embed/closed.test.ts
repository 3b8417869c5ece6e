import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createThingId, createToken } from '../../src/core/token.ts'
import { ThingwireError } from '../../src/errors.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { createThings, type Things } from '../../src/things.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { thingsOfTest } from './host-things.ts'

const thingId = createThingId()

/** All that a host calls, but what says whether the service is ready and what closes it. */
const calls: Readonly<Record<string, (things: Things) => unknown>> = {
  write: things => things.write(thingId, [{ key: 'k', value: 1 }]),
  read: things => things.read(thingId, 'k'),
  on: things => things.on('reading', () => {}),
  storeSize: things => things.storeSize(),
  backup: things => things.backup()[Symbol.asyncIterator]().next(),
  'registry.create': things => things.registry.create({}),
  'registry.list': things => things.registry.list({ limit: 1 }),
  'registry.named': things => things.registry.named('pump'),
  'registry.missing': things => things.registry.missing([thingId]),
  'sessions.create': things => things.sessions.create('*', { access: 'read' }),
  'sessions.list': things => things.sessions.list({ limit: 1 }),
  'activationCodes.create': things => things.activationCodes.create({ count: 1, uses: 1 }),
  'activationCodes.list': things => things.activationCodes.list(),
}

describe('a service that its host has closed', () => {
  it.each(Object.entries(calls))('refuses %s for good', async (_name, call) => {
    const { things } = await thingsOfTest()
    await things.close()
    const refusal = await (async () => call(things))().catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ThingwireError)
    expect(refusal).toMatchObject({ reason: 'service_closed', retryable: false })
  })

  it('refuses from the call of close() on, and finishes what was called before', async () => {
    const { things, thingId: known } = await thingsOfTest()
    const before = things.write(known, [{ key: 'k', value: 1 }])
    const closing = things.close()
    await expect(things.write(known, [{ key: 'k', value: 2 }])).rejects.toMatchObject({
      reason: 'service_closed',
    })
    await before
    await closing
    await things.close()
    expect(things.isReady()).toBe(false)
  })

  it('finishes the first write to a thing, which the store has to read first', async () => {
    const [location, adminKey] = [join(await temporaryDirectory(), 'store'), createToken()]
    const open = () => createThings({ store: createLevelStore({ location }), adminKey })
    const first = await open()
    const { thingId: known } = await first.registry.create({})
    await first.close()
    const second = await open()
    const writing = second.write(known, [{ key: 'k', value: 1 }])
    await second.close()
    await writing
    const third = await open()
    expect(await third.read(known, 'k')).toMatchObject([{ value: 1 }])
    await third.close()
  })
})
