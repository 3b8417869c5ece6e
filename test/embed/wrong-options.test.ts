import { Aedes } from 'aedes'
import fastify, { type FastifyPluginAsync } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { thingsHttp } from '../../src/http/index.ts'
import { meta } from '../../src/magic/meta.ts'
import { attachThings } from '../../src/mqtt/index.ts'
import { createServer } from '../../src/server/index.ts'
import { thingsPage } from '../../src/server/page.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { createThings, type Things } from '../../src/things.ts'
import { thingsOfTest } from './host-things.ts'

/** A program without types gives anything. */
type Untyped = (...given: unknown[]) => unknown

const adminKey = 'k'.repeat(32)
const store = createMemoryStore()

async function register(plugin: unknown, options: unknown): Promise<unknown> {
  const app = fastify()
  onTestFinished(() => app.close())
  return await app.register(plugin as FastifyPluginAsync<object>, options as object)
}

async function attach(...given: unknown[]): Promise<unknown> {
  const broker = await Aedes.createBroker()
  onTestFinished(() => new Promise<void>(resolve => broker.close(resolve)))
  return (attachThings as Untyped)(broker, ...given)
}

const aStore = "a store, such as createLevelStore({ location: './data/store' })"

describe('a wrong option', () => {
  it.each<[string, () => unknown, string]>([
    [
      'createThings()',
      () => (createThings as Untyped)(),
      'the options of createThings must be an object such as { store, adminKey }, but they are missing',
    ],
    [
      'createThings({})',
      () => (createThings as Untyped)({}),
      `store of createThings must be ${aStore}, but it is missing`,
    ],
    [
      'a location',
      () => (createThings as Untyped)({ store: './data', adminKey }),
      `store of createThings must be ${aStore}, but it is "./data"`,
    ],
    [
      'options of a store',
      () => (createThings as Untyped)({ store: { location: 'x' }, adminKey }),
      `store of createThings must be ${aStore}, but it is another object`,
    ],
    [
      'the function',
      () => (createThings as Untyped)({ store: createLevelStore, adminKey }),
      `store of createThings must be ${aStore}, but it is a function`,
    ],
    [
      'no admin key',
      () => (createThings as Untyped)({ store }),
      'adminKey of createThings must be at least 32 printable characters without spaces, but it is missing',
    ],
    [
      'a number as admin key',
      () => (createThings as Untyped)({ store, adminKey: 1 }),
      'adminKey of createThings must be at least 32 printable characters without spaces',
    ],
    [
      'a short admin key',
      () => (createThings as Untyped)({ store, adminKey: 'secret' }),
      'adminKey of createThings must be at least 32 printable characters without spaces',
    ],
    [
      'an unknown option',
      () => (createThings as Untyped)({ store, adminKey, retentoin: [] }),
      'createThings has no option "retentoin": its options are store, adminKey, allowThingDelete, storeTimeout, limits, retention, magicResources, observer, onDefect',
    ],
    [
      'a text for a truth value',
      () => (createThings as Untyped)({ store, adminKey, allowThingDelete: 'no' }),
      'allowThingDelete of createThings must be true or false, but it is "no"',
    ],
    [
      'no age',
      () => (createThings as Untyped)({ store, adminKey, retention: ['30d'] }),
      'retention of createThings must be a list of rules such as { pattern: \'debug.*\', age: 86_400_000 }, but [0] is "30d"',
    ],
    [
      'a magic resource without a key',
      () => (createThings as Untyped)({ store, adminKey, magicResources: [{}] }),
      'magicResources of createThings must be a list of magic resources (docs/use/magic.md), but [0].key is missing',
    ],
    [
      'a magic resource without functions',
      () => (createThings as Untyped)({ store, adminKey, magicResources: [{ key: '$x' }] }),
      'magicResources of createThings must be a list of magic resources (docs/use/magic.md), but [0].check is missing',
    ],
    [
      'a magic resource with a key of Thingwire',
      () => createThings({ store, adminKey, magicResources: [{ ...meta }] }),
      '$meta is a magic resource of Thingwire: yours needs another key',
    ],
    [
      'a magic resource of a wrong key',
      () =>
        (createThings as Untyped)({
          store,
          adminKey,
          magicResources: [{ key: 'x', check() {}, apply() {} }],
        }),
      'the key of a magic resource must be $ and 1 to 64 letters',
    ],
    [
      'a limit that is none',
      () => (createThings as Untyped)({ store, adminKey, limits: { writesPerSecond: 0 } }),
      'writesPerSecond of limits of createThings must be a whole number from 1 to 1000000, but it is 0',
    ],
    [
      'an unknown limit',
      () => (createThings as Untyped)({ store, adminKey, limits: { writes: 1 } }),
      'limits of createThings has no option "writes": its options are writesPerSecond,',
    ],
    [
      'createLevelStore()',
      () => (createLevelStore as Untyped)(),
      "the options of createLevelStore must be an object such as { location: './data/store' }, but they are missing",
    ],
    [
      'createLevelStore({})',
      () => (createLevelStore as Untyped)({}),
      'location of createLevelStore must be the path of a directory, but it is missing',
    ],
    [
      'a path alone',
      () => (createLevelStore as Untyped)('./data'),
      `the options of createLevelStore must be an object such as { location: './data/store' }, but they are "./data"`,
    ],
    [
      'a durability that is none',
      () => (createLevelStore as Untyped)({ location: 'x', durability: 'sync' }),
      'durability of createLevelStore must be one of synced, written, but it is "sync"',
    ],
    [
      'createRedisStore({})',
      () => (createRedisStore as Untyped)({}),
      'url of createRedisStore must be `redis://',
    ],
    [
      'a URL of something else',
      () => (createRedisStore as Untyped)({ url: 'http://u:pass@h' }),
      'url of createRedisStore must be `redis://',
    ],
    [
      'createServer(null)',
      () => (createServer as Untyped)(null),
      "the options of createServer must be an object such as { dataDir: './data' }, but they are null",
    ],
    [
      'createServer of a port',
      () => (createServer as Untyped)(8080),
      "the options of createServer must be an object such as { dataDir: './data' }, but they are 8080",
    ],
    [
      'a function for a port',
      () => (createServer as Untyped)({ httpPort: () => 1 }),
      'httpPort in the options of createServer must be a whole number from 0 to 65535, but it is a function',
    ],
    [
      'a number for a path',
      () => (createServer as Untyped)({ dataDir: 5 }),
      'dataDir in the options of createServer must be a path, not -, but it is 5',
    ],
    [
      'a misspelled port',
      () => (createServer as Untyped)({ httpport: 1 }),
      'unknown option httpport in the options of createServer',
    ],
    [
      'attachThings()',
      () => (attachThings as Untyped)(),
      'attachThings needs an Aedes broker of version 1.2 or a later 1.x, but the broker is missing',
    ],
    [
      'attachThings(broker)',
      () => attach(),
      'things of attachThings must be the service that createThings gives, but it is missing',
    ],
    [
      'a promise',
      () => attach(Promise.resolve()),
      'things of attachThings must be the service that createThings gives, but it is a promise: await it',
    ],
    [
      'thingsHttp without things',
      () => register(thingsHttp, {}),
      'things of thingsHttp must be the service that createThings gives, but it is missing',
    ],
    [
      'thingsHttp with a store',
      () => register(thingsHttp, { things: store }),
      'things of thingsHttp must be the service that createThings gives, but it is another object',
    ],
    [
      'thingsHttp with a stranger',
      () => register(thingsHttp, { things: store, cors: true }),
      'thingsHttp has no option "cors": its options are things,',
    ],
    [
      'thingsPage without things',
      () => register(thingsPage, {}),
      'things of thingsPage must be the service that createThings gives, but it is missing',
    ],
    [
      'thingsPage with a port that is none',
      () => register(thingsPage, { mqttPort: '1883' }),
      'mqttPort of thingsPage must be a whole number from 1 to 65535, but it is "1883"',
    ],
    [
      'thingsPage with a URL for a broker',
      () => register(thingsPage, { broker: 'mqtt://h' }),
      'broker of thingsPage must be an Aedes broker, but it is "mqtt:',
    ],
  ])('says what is wanted: %s', async (_, call, message) => {
    const failing = (async () => await call())()
    await expect(failing).rejects.toThrow(message)
    await expect(failing).rejects.toBeInstanceOf(TypeError)
    await expect(failing).rejects.not.toThrow(/secret|pass@/)
  })

  it.each<[string, object, string]>([
    [
      'a misspelled one',
      { ownBroker: true },
      'attachThings has no option "ownBroker": its options are ownsBroker,',
    ],
    [
      'a text for a number',
      { willGrace: '30s' },
      'willGrace of attachThings must be a whole number from 0 to',
    ],
  ])('of attachThings is named: %s', async (_, options, message) => {
    const { things } = await thingsOfTest()
    await expect(attach(things, options)).rejects.toThrow(message)
  })
})

describe('a wrong argument of the service, registry, sessions or activationCodes', () => {
  it.each<[string, (things: Things) => unknown, string]>([
    [
      'read()',
      ({ read }) => (read as Untyped)(),
      'thingId of read must be the id of a thing, but it is missing',
    ],
    [
      'read(id)',
      ({ read }) => (read as Untyped)('abcdefghijklmnop'),
      'key of read must be the key of a resource, but it is missing',
    ],
    [
      'write(id, object)',
      ({ write }) => (write as Untyped)('abcdefghijklmnop', { temperature: 21.5 }),
      "records of write must be a list such as [{ key: 'temperature', value: 21.5 }], but it is another object",
    ],
    [
      'write(undefined)',
      ({ write }) => (write as Untyped)(undefined, []),
      'thingId of write must be the id of a thing, but it is missing',
    ],
    [
      'a topic without access',
      ({ registry }) => (registry.setTopics as Untyped)('id', [{ filter: 'tele/#' }]),
      "topics of registry.setTopics must be a list such as [{ filter: 'tele/#', access: 'read' }], but [0].access is missing",
    ],
    [
      'registry.create()',
      ({ registry }) => (registry.create as Untyped)(),
      "the options of registry.create must be an object such as { name: 'pump' }, but they are missing",
    ],
    [
      "registry.create('pump')",
      ({ registry }) => (registry.create as Untyped)('pump'),
      'the options of registry.create must be an object such as { name: \'pump\' }, but they are "pump"',
    ],
    [
      'a misspelled name',
      ({ registry }) => (registry.create as Untyped)({ nam: 'x' }),
      'registry.create has no option "nam": its options are name, topics',
    ],
    [
      'registry.list()',
      ({ registry }) => (registry.list as Untyped)(),
      'the options of registry.list must be an object such as { limit: 100 }, but they are missing',
    ],
    [
      'registry.named()',
      ({ registry }) => (registry.named as Untyped)(),
      'name of registry.named must be a text, but it is missing',
    ],
    [
      'registry.missing()',
      ({ registry }) => (registry.missing as Untyped)(),
      'thingIds of registry.missing must be a list of thing ids, but it is missing',
    ],
    [
      'registry.rename(id)',
      ({ registry }) => (registry.rename as Untyped)('id'),
      'name of registry.rename must be a text of at most 200 characters, but it is missing',
    ],
    [
      'registry.remove()',
      ({ registry }) => (registry.remove as Untyped)(),
      'thingId of registry.remove must be a text, but it is missing',
    ],
    [
      'registry.setTopics(id)',
      ({ registry }) => (registry.setTopics as Untyped)('id'),
      "topics of registry.setTopics must be a list such as [{ filter: 'tele/#', access: 'read' }], but it is missing",
    ],
    [
      'sessions.create()',
      ({ sessions }) => (sessions.create as Untyped)(),
      "things of sessions.create must be '*' or a list of thing ids, but it is missing",
    ],
    [
      "an access 'reed'",
      ({ sessions }) => (sessions.create as Untyped)('*', { access: 'reed' }),
      'access of sessions.create must be one of read, write, but it is "reed"',
    ],
    [
      "an access 'admin' for one thing",
      ({ sessions }) => (sessions.createForThing as Untyped)('id', adminKey, { access: 'admin' }),
      'access of sessions.createForThing must be one of read, write, but it is "admin"',
    ],
    [
      'expires_in',
      ({ sessions }) => (sessions.create as Untyped)('*', { access: 'read', expires_in: 60 }),
      'sessions.create has no option "expires_in": its options are things, access, expiresIn, topics',
    ],
    [
      'sessions.list()',
      ({ sessions }) => (sessions.list as Untyped)(),
      'the options of sessions.list must be an object such as { limit: 100 }, but they are missing',
    ],
    [
      'activationCodes.create()',
      ({ activationCodes }) => (activationCodes.create as Untyped)(),
      'the options of activationCodes.create must be an object such as { count: 1, uses: 1 }, but they are missing',
    ],
  ])('is named, with what it must be: %s', async (_, call, message) => {
    const { things } = await thingsOfTest()
    await expect((async () => await call(things))()).rejects.toThrow(new TypeError(message))
  })

  type Things = Awaited<ReturnType<typeof thingsOfTest>>['things']
  it.each<[string, (things: Things) => Promise<unknown>]>([
    ['registry.rename', ({ registry }) => registry.rename('pump', 'q')],
    ['registry.setTopics', ({ registry }) => registry.setTopics('pump', [])],
    ['registry.remove', ({ registry }) => registry.remove('pump')],
    ['registry.addToken', ({ registry }) => registry.addToken('pump')],
    ['registry.tokens', ({ registry }) => registry.tokens('pump')],
    ['registry.removeToken', ({ registry }) => registry.removeToken('pump', 'x')],
    ['sessions.create', ({ sessions }) => sessions.create(['pump'], { access: 'read' })],
    [
      'sessions.createForThing',
      ({ sessions }) => sessions.createForThing('pump', adminKey, { access: 'read' }),
    ],
    ['write', ({ write }) => write('pump', [{ key: 'n', value: 1 }])],
    ['read', ({ read }) => read('pump', 'n')],
  ])('is named where a name is in the place of an id, with the way to the id: %s', async (_, call) => {
    const { things } = await thingsOfTest()
    await expect((async () => await call(things))()).rejects.toMatchObject({
      reason: 'unknown_thing',
      message: expect.stringMatching(/^no thing has the id "pump": .*registry\.named\(name\)/),
    })
  })
})
