import { defineConfig } from 'vitest/config'

declare module 'vitest' {
  export interface ProvidedContext {
    /** What the services that `test/doors/service.ts` starts keep everything in. */
    store: 'embedded' | 'redis' | 'redis-cluster'
    /** Which doors the case table is tried through. */
    doors: 'all' | 'one of each protocol'
  }
}

const shared = {
  // Where Debian has the servers that tests start; the PATH of a user there lacks it.
  env: { PATH: `${process.env.PATH}:/usr/sbin` },
  // A quarter of the processor time would go into importing the same modules for each file.
  isolate: false,
  // Awaited events have deadlines far beyond what is promised; what is promised is measured in bench/. A test of many
  // processes takes 40 s where it is alone, and several times that on a machine that others load.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 30_000 } },
}

/** What the doors promise whatever the store is. */
const doorSuites = ['both-doors', 'cases/*', 'refused-writes', 'streams']

function suites(...names: readonly string[]): string[] {
  return names.map(name => `test/doors/${name}.test.ts`)
}

/** Tests of several nodes that wait for the death of one, or for Redis: `npm run nodes`. */
const longNodesTests = [
  'cut-off',
  'failover',
  'load-balancer',
  'magic',
  'mqtt-handover',
  'mqtt-sessions',
  'mqtt-version5',
  'mqtt-wills',
  'outage',
  'removal',
].map(name => `test/cluster/${name}.test.ts`)

/** Delayed wills and ends of sessions on several nodes: on one Redis, and on a cluster. */
const version5NodesTest = 'test/cluster/mqtt-version5.test.ts'

/** The conformance suite again, on the scripts of which that of one Redis is held to it already. */
const redisClusterTest = 'test/store/redis-cluster.test.ts'

/** What a broker owes its clients, in the project of Redis where publisher and subscriber are at two processes. */
const relayDuties = ['duties', 'retained-duties', 'version5-duties'].map(
  name => `test/mqtt/relay/${name}.test.ts`,
)

/** A host's broker on Redis, as two processes of examples/redis-host. */
const redisHostTests = 'test/mqtt/host/redis/*.test.ts'

/**
 * What a reader of the papers does: the commands of the pages, which take the ports that they name, the package, the picture. Each
 * installs, builds or waits for minutes: `npm run pages`, one file after another, beside the fast tests on other versions of Node.
 */
const pagesTests = ['docs/runner/pages', 'package/tarball', 'browser/picture'].map(
  name => `test/${name}.test.ts`,
)

/** More than a minute of silence behind proxies with their own times: `npm run silence`. */
const silenceTest = 'test/proxies/silence.test.ts'

/** What takes some 80 s on two cores, and needs nothing beside Node: `npm run fast`. */
const fastTests = ['access', 'core', 'http', 'live', 'mqtt', 'store/level', 'web'].map(
  folder => `test/${folder}/**/*.test.ts`,
)
const slowerTests = [
  ...['export', 'export-bytes'].map(name => `http/reading/${name}`),
  ...['limit', 'restart', 'revocation'].map(name => `http/routes/stream-${name}`),
  ...['chunked-stream', 'event-stream'].map(name => `http/streaming/${name}`),
  'live/outbox',
  ...['back-pressure', 'order', 'keep-alive', 'stuck'].map(name => `mqtt/connection/${name}`),
  ...['retained-live', 'retained-property'].map(name => `mqtt/delivery/${name}`),
  ...['anonymous', 'revocation', 'takeover', 'unavailable'].map(name => `mqtt/doors/${name}`),
  ...['missed-crash', 'session-model'].map(name => `mqtt/sessions/${name}`),
  ...['malformed', 'wills'].map(name => `mqtt/version5/${name}`),
  ...['inherited-wills', 'wills'].map(name => `mqtt/wills/${name}`),
  ...['lost-answers', 'snippets'].map(name => `web/connect/${name}`),
].map(name => `test/${name}.test.ts`)

export default defineConfig({
  test: {
    globalSetup: 'test/helpers/built.ts',
    // vitest takes one less than there are cores; many tests only wait, for a time-out of the server's or another process.
    maxWorkers: 4,
    projects: [
      {
        test: {
          ...shared,
          name: 'embedded',
          include: ['test/**/*.test.ts'],
          exclude: [...longNodesTests, redisClusterTest, redisHostTests, ...pagesTests, silenceTest],
          provide: { store: 'embedded', doors: 'all' },
        },
      },
      {
        test: {
          ...shared,
          name: 'fast',
          include: fastTests,
          exclude: [...slowerTests, redisHostTests],
          provide: { store: 'embedded' },
        },
      },
      {
        test: {
          ...shared,
          name: 'pages',
          include: pagesTests,
          // The first page has the package built, packed and installed.
          testTimeout: 600_000,
          provide: { store: 'embedded' },
        },
      },
      { test: { ...shared, name: 'silence', include: [silenceTest], provide: { store: 'embedded' } } },
      { test: { ...shared, name: 'nodes', include: longNodesTests, provide: { store: 'embedded' } } },
      {
        test: {
          ...shared,
          name: 'redis',
          include: [...suites(...doorSuites), ...relayDuties, redisHostTests],
          // All of them take minutes, and are tried on a cluster: `npm run nodes`.
          provide: { store: 'redis', doors: 'one of each protocol' },
        },
      },
      {
        test: { ...shared, name: 'redis-property', include: suites('property'), provide: { store: 'redis' } },
      },
      {
        test: {
          ...shared,
          name: 'redis-cluster',
          include: [...suites(...doorSuites), redisClusterTest, version5NodesTest],
          provide: { store: 'redis-cluster', doors: 'all' },
        },
      },
    ],
  },
})
