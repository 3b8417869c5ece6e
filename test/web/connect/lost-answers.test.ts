import { expect, it, onTestFinished } from 'vitest'
import type { Endpoint, Snippet } from '../../../web/src/thing/connect/snippet.ts'
import { snippets } from '../../../web/src/thing/connect/snippets/index.ts'
import { micropython } from '../../../web/src/thing/connect/snippets/micropython.ts'
import { node } from '../../../web/src/thing/connect/snippets/node.ts'
import { python } from '../../../web/src/thing/connect/snippets/python.ts'
import { type Fates, openLossyPath } from '../../clients/lossy-path.ts'
import type { Program } from '../../clients/program.ts'
import { storedValues, valuesTo } from '../../clients/stored.ts'
import { createThing, type Thing } from '../../helpers/http-client.ts'
import { serverOfTest, serverOfTests } from '../../helpers/of-test.ts'
import { freePort } from '../../helpers/redis-server.ts'
import { startServer } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { type Run, runsOf, startProgram } from './device-program.ts'

/** The programs of the page on links that lose what the server answers, and in front of a server that starts after them. */

const server = serverOfTests()
const programs = snippets.flatMap(snippet => runsOf(snippet).map(run => ({ snippet, run })))
const isHttp = (snippet: Snippet) => snippet.tls === undefined
const boardReadings = 6
/** Of the programs that go on for ever: changed so that they send some readings, without a pause, with their numbers as values. */
const finite: ReadonlyMap<Snippet, (text: string) => string> = new Map([
  [
    micropython,
    text =>
      text
        .replace('while True:\n    count += 1', `while count < ${boardReadings}:\n    count += 1`)
        .replace('"value": 21.5', '"value": count - 1')
        .replace('time.sleep(10)', 'time.sleep(0)'),
  ],
  [
    python,
    text =>
      text
        .replace('while True:', `for temperature in range(${boardReadings}):`)
        .replace('    temperature = 21.5  # your sensor\n', '')
        .replace('time.sleep(10)', 'time.sleep(0)'),
  ],
  [
    node,
    text =>
      text
        .replace('for (;;)', `for (let temperature = 0; temperature < ${boardReadings}; temperature++)`)
        .replace('  const temperature = 21.5 // your sensor\n', '')
        .replace('sleep(10_000)', 'sleep(0)')
        .concat('await client.endAsync()\n'),
  ],
])
const isBoard = (snippet: Snippet) => finite.has(snippet)

const accidents: Readonly<Record<string, Fates>> = {
  'the connection is closed in place of the answer': { 'answer 1': 'closed' },
  'the connection is reset in place of the answer': { 'answer 1': 'reset' },
  'the connection breaks in the middle of the write': { 'write 1': 'halved' },
  'the connection breaks before the write': { 'write 1': 'reset' },
  'the answer is lost, and the connection stays': { 'answer 1': 'lost' },
  'the write is lost, and the connection stays': { 'write 1': 'lost' },
  'half of the answer comes': { 'answer 1': 'halved' },
  'the link is dead from the answer on': { 'answer 1': 'silent' },
  'the link is dead from the write on': { 'write 1': 'silent' },
  'three answers are lost in three ways': { 'answer 1': 'closed', 'answer 2': 'lost', 'answer 3': 'reset' },
  'write and answer are lost in turn': { 'write 1': 'closed', 'answer 1': 'reset', 'write 3': 'halved' },
}

const mqttAccidents: Readonly<Record<string, Fates>> = {
  'the connection is closed in place of CONNACK': { 'connack 1': 'closed' },
  'CONNACK is lost': { 'connack 1': 'lost' },
  'CONNACK says that the server is not available': { 'connack 1': 'unavailable' },
  'CONNACK is lost, and the next answer with its connection': {
    'connack 1': 'silent',
    'answer 1': 'closed',
  },
}

/** For a program that sends many: from the fourth reading on. */
const boardAccidents: Readonly<Record<string, Fates>> = {
  'the fourth answer is lost with its connection': { 'answer 4': 'closed' },
  'the fourth answer is lost, and the connection stays': { 'answer 4': 'lost' },
  'every other answer is lost': { 'answer 2': 'reset', 'answer 4': 'closed', 'answer 6': 'reset' },
  'half of the fifth write arrives': { 'write 5': 'halved' },
}

const rows = programs.flatMap(({ snippet, run }) => {
  const more = isHttp(snippet) ? {} : mqttAccidents
  const all = { ...accidents, ...more, ...(isBoard(snippet) && boardAccidents) }
  return Object.entries(all).map(([accident, fates]) => ({ snippet, run, accident, fates }))
})

it('every reading arrives once over a link that loses what is answered', async () => {
  const outcomes = await Promise.all(rows.map(outcomeOf))
  expect(outcomes).toEqual(
    rows.map(({ snippet, run, accident, fates }) => ({
      name: run.name,
      accident,
      met: Object.keys(fates).toSorted(),
      code: 0,
      values: expectedOf(snippet),
    })),
  )
})

async function outcomeOf({ snippet, run, accident, fates }: (typeof rows)[number]) {
  const thing = await createThing(server())
  const { url, mqttUrl } = server()
  const protocol = isHttp(snippet) ? 'http' : 'mqtt'
  const path = await openLossyPath(protocol, Number(new URL(isHttp(snippet) ? url : mqttUrl).port), fates)
  onTestFinished(() => path.close())
  const { code, output } = await (await start(snippet, run, endpointAt(thing, path.port, path.port))).exited
  const values = code === 0 ? await storedValues(server(), thing, 'temperature') : output
  return { name: run.name, accident, met: path.met.toSorted(), code, values }
}

it('every reading arrives at a server that starts after the program', async () => {
  const dataDir = await temporaryDirectory()
  const ports = { http: await freePort(), mqtt: await freePort() }
  const args = ['--http-port', String(ports.http), '--mqtt-port', String(ports.mqtt)]
  const first = await startServer({ dataDir, args })
  const things = await Promise.all(programs.map(() => createThing(first)))
  await first.stop()
  const running = await Promise.all(
    programs.map(async ({ snippet, run }, place) => {
      const thing = things[place] as Thing
      const program = await start(snippet, run, endpointAt(thing, ports.http, ports.mqtt))
      return { run, thing, program }
    }),
  )
  await Promise.all(
    running.map(({ program }) => program.said(/refused|no connection|not stored|will retry/i)),
  )
  const later = await serverOfTest({ dataDir, args })
  const outcomes = await Promise.all(
    running.map(async ({ run, thing, program }) => {
      const { code, output } = await program.exited
      const values = code === 0 ? await storedValues(later, thing, 'temperature') : output
      return { name: run.name, code, values }
    }),
  )
  const expected = programs.map(({ snippet, run }) => ({
    name: run.name,
    code: 0,
    values: expectedOf(snippet),
  }))
  expect(outcomes).toEqual(expected)
})

function endpointAt({ thingToken }: Thing, httpPort: number, mqttPort: number): Endpoint {
  return { host: '127.0.0.1', mqttPort, httpUrl: `http://127.0.0.1:${httpPort}`, token: thingToken }
}

async function start(snippet: Snippet, run: Run, endpoint: Endpoint): Promise<Program> {
  const text = snippet.text(endpoint)
  return await startProgram(snippet, endpoint, { text: finite.get(snippet)?.(text) ?? text, run })
}

function expectedOf(snippet: Snippet): readonly number[] {
  return isBoard(snippet) ? valuesTo(boardReadings) : [21.5]
}
