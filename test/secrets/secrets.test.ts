import { describe, expect, it } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import { nodesOfTest } from '../helpers/of-test.ts'
import { type Exit, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { addDataFiles, addRedis, addStore } from './data-files.ts'
import { Evidence } from './evidence.ts'
import { Operator } from './operator.ts'
import { playFirst, playOnNodes, playSecond } from './play.ts'
import { playPlaces } from './play-places.ts'

const settings = {
  args: ['--log-level', 'trace'],
  environment: {
    THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
    // Wills of a killed server are written while the next one runs.
    THINGWIRE_WILL_GRACE: '100',
    THINGWIRE_TOPICS: 'house/#',
  },
}

describe('a server', () => {
  it('tells nobody a secret, and keeps none, whatever is done with it', async () => {
    const dataDir = await temporaryDirectory()
    const evidence = new Evidence()
    const first = await startServer({ dataDir, ...settings })
    evidence.addSecret('admin key', first.adminKey)
    const cast = await untilEnded(first, () => playFirst(first, evidence))
    takeDownOutput(evidence, await first.exited)
    await addDataFiles(evidence, dataDir)

    const second = await startServer({ dataDir, ...settings })
    await untilEnded(second, () => playSecond(second, evidence, cast))
    const exit = await second.exited
    takeDownOutput(evidence, exit)
    const mode = await addDataFiles(evidence, dataDir)
    await addStore(evidence, dataDir)

    expect(exit.code).toBe(0)
    expect(mode).toBe(0o600)
    const { thingId } = cast.player
    assertSeen(evidence, thingId, {
      'a backup': [thingId, ...keptOfTopics],
      'the store': [thingId],
      'a data file': [thingId],
    })
    expect(evidence.leaks()).toEqual([])
  })
})

describe('two nodes on Redis', () => {
  it('tell nobody a secret, and keep none', async () => {
    const evidence = new Evidence()
    const { redis, adminKey, node } = await nodesOfTest(2, settings)
    evidence.addSecret('admin key', adminKey)
    const endRedis = await addRedis(evidence, redis)
    const { player } = await playOnNodes(node(0), node(1), evidence)
    await endRedis()
    for (const { exited } of [node(0), node(1)]) takeDownOutput(evidence, await exited)
    assertSeen(evidence, player.thingId, {
      'a file of Redis': [player.thingId, ...keptOfTopics],
      'a message between nodes': ['house/player/state'],
    })
    expect(evidence.leaks()).toEqual([])
  })
})

describe('a server with an admin key of the operator', () => {
  it.each([
    ['like a hash', '9e107d9d372bb6826bd81d3542a419d6'],
    ['of words', 'correct.horse/battery.staple!lamp'],
  ])('tells it nobody, and keeps it nowhere, if it is %s', async (_, adminKey) => {
    const dataDir = await temporaryDirectory()
    const evidence = new Evidence()
    const environment = { ...settings.environment, THINGWIRE_ADMIN_KEY: adminKey }
    const server = await startServer({ dataDir, args: settings.args, environment })
    evidence.addSecret('admin key', adminKey)
    await untilEnded(server, async () => {
      const operator = new Operator(server, evidence)
      const { thingId, thingToken: token } = await operator.mint<Thing>('token', '/v2/admin/things')
      await playPlaces(server, evidence, adminKey, { thingId, token })
      await operator.lookAtAll([thingId])
      await server.stop()
    })
    takeDownOutput(evidence, await server.exited)
    await addStore(evidence, dataDir)
    expect(evidence.holds('told', `the answer to GET /v2/things/`, '[redacted]')).toBe(true)
    expect(evidence.leaks()).toEqual([])
  })
})

/** How the names begin of what is kept of topics beside those of things. */
const keptOfTopics = ['topic-sessions/', 'topic-queue/', 'topic-retained/', 'mqtt-wills/']

/** Evidence without these would prove nothing. @param kept texts by where they are on disk */
function assertSeen(
  evidence: Evidence,
  thingId: string,
  kept: Readonly<Record<string, readonly string[]>>,
): void {
  const told = ['operator', 'dashboard', 'app', 'writer'].map(name => [`a topic to the ${name}`, thingId])
  const streamed = ['app', 'dashboard', 'player', 'writer'].map(name => [`a stream to the ${name}`, '"mark"'])
  const answered = [
    [`the answer to GET /v2/things/${thingId}/errors`, '[redacted]'],
    ['a message to the operator', '[redacted]'],
    ['stderr', '[redacted]'],
    ...['operator', 'dashboard'].map(name => [`a topic to the ${name}`, 'house/player/state']),
    [`the answer to GET /v2/things/${thingId}/errors`, 'house/[redacted]/x'],
    ['stdout', 'Thingwire is ready'],
  ]
  const files = Object.entries(kept).flatMap(([where, texts]) => texts.map(text => [where, text]))
  const unseen = (kind: 'told' | 'files', wanted: string[][]) =>
    wanted.filter(([where = '', text = '']) => !evidence.holds(kind, where, text))
  expect(unseen('told', [...told, ...streamed, ...answered])).toEqual([])
  expect(unseen('files', files)).toEqual([])
}

/** Whatever happens, the server has ended afterwards. */
async function untilEnded<T>(server: ServerProcess, play: () => Promise<T>): Promise<T> {
  try {
    return await play()
  } finally {
    if (server.process.exitCode === null && server.process.signalCode === null) await server.kill()
  }
}

function takeDownOutput(evidence: Evidence, { stdout, stderr }: Exit): void {
  evidence.add('told', 'stdout', stdout)
  evidence.add('told', 'stderr', stderr)
}
