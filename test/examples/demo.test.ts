import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { SentWrite } from '../../src/cli/demo/history.ts'
import { faultIn } from '../../src/cli/demo/proof.ts'
import { commands } from '../../src/cli/demo/report.ts'
import { Program } from '../clients/program.ts'
import { createThing, write } from '../helpers/http-client.ts'
import { runCli, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const run = promisify(execFile)

test('the demo stores four voyages of three things, sees them live and reads every value back', async () => {
  // Its exit status says whether all was there.
  const { code, stdout } = await runCli({ args: ['demo', '--exit'] })
  expect(stdout).toMatch(/^Stored 173,944 readings of three things in [\d.]+ s: boat, echo sounder, wind\.$/m)
  const right = 'each once, in order +every value equal'
  expect(stdout).toMatch(new RegExp(`^boat +MQTT +116,000 +[\\d,]+ +${right} +none$`, 'm'))
  expect(stdout).toMatch(new RegExp(`^echo sounder +HTTP +29,000 +[\\d,]+ +${right} +none$`, 'm'))
  expect(stdout).toMatch(new RegExp(`^wind +MQTT +28,944 +[\\d,]+ +${right} +28, all listed$`, 'm'))
  expect(stdout).toMatch(
    /^[\d,]+ positions seen live\. The last is the latest: 59\.855667° N 23\.399017° E$/m,
  )
  expect(stdout).not.toContain('No terminal')
  expect(code).toBe(0)
})

test('the demo without a terminal says that it is not to be watched', async () => {
  const dataPlace = await temporaryDirectory()
  const line = `TMPDIR=${dataPlace} exec ${process.execPath} dist/cli/main.js demo`
  const demo = new Program({ command: 'bash', debianPackage: 'bash' }, ['-c', line])
  await demo.said(/^No terminal: .* checks it and ends/m)
})

test('the demo on a terminal shows days of history, goes on live and prints a link that signs in, in 80 columns', async () => {
  const dataPlace = await temporaryDirectory()
  // Without a shell in between, which some shells leave there to die of the same Ctrl-C with a status of its own.
  const line = `exec env TMPDIR=${dataPlace} ${process.execPath} ${process.cwd()}/dist/cli/main.js demo --speed 100`
  const demo = new Program({ command: 'script', debianPackage: 'bsdutils' }, ['-qec', line, '/dev/null'])
  const [url = '', session = ''] = await demo.said(/^ {2}(http:[^\s#]+)\/#session=(\S{43})\r$/m)
  expect(await (await fetch(url)).text()).toContain('<title>Thingwire')
  const get = async <Answer>(path: string) => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${session}` } })
    return (await answer.json()) as Answer
  }
  const { expiresAt, access } = await get<{ expiresAt: string; access: string }>('/v2/principal')
  expect(access).toBe('write')
  expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(86_400_000)

  const { things } = await get<{ things: { thingId: string; name: string }[] }>('/v2/things')
  const idOf = (name: string) => things.find(thing => thing.name === name)?.thingId
  const depths = `/v2/things/${idOf('echo sounder')}/resources/depth_m`
  const days = await get<object[]>(`${depths}?aggregate=count&interval=1d`)
  expect(days.length).toBeGreaterThanOrEqual(4)
  const refused = await get<{ excerpt: string }[]>(`/v2/things/${idOf('wind')}/errors?limit=100`)
  expect(refused).toHaveLength(28)
  expect(refused[0]).toMatchObject({ door: 'mqtt', reason: 'invalid_value' })

  await demo.said(/Live, 100 times as fast as it was: 0:00:\d\d to sail/)
  const newest = async () => (await get<[{ datetime: string }]>(depths))[0].datetime
  const before = await newest()
  await expect.poll(newest).not.toBe(before)
  demo.process.stdin?.write('\u0003')
  const { code, output } = await demo.exited
  expect(code).toBe(0)
  expect(output.split(/[\r\n]+/).filter(text => text.length > 80)).toEqual([])
  expect((await readdir(dataPlace)).filter(name => name.startsWith('thingwire'))).toEqual([])
})

test.each(['warp', '0', '1001'])('the demo refuses --speed %s', async speed => {
  const { code, stderr } = await runCli({ args: ['demo', '--speed', speed] })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`but it is ${speed}`) })
})

test('the commands that the demo prints do what they say', async () => {
  const server = await startServer({ dataDir: await temporaryDirectory() })
  onTestFinished(async () => void (await server.stop()))
  const thing = await createThing(server)
  await write(server, thing, { values: [{ key: 'depth_m', value: 9.7 }] })
  const lines = commands(server.url, thing)
    .split('\n')
    .filter(line => line.startsWith('  '))
  expect(lines).toHaveLength(5)
  const [token = '', sounder = '', read = '', send = '', stream = ''] = lines
  const environment = `${token}; ${sounder}`
  const events = watch(environment, stream)
  // What it says first: that it listens.
  await events.said(/^:|^id: /m)
  const answer = async (line: string) =>
    JSON.parse((await run('bash', ['-c', `${environment}; ${line}`])).stdout)
  expect(await answer(read)).toMatchObject([{ key: 'depth_m', value: 9.7 }])
  expect(await answer(send)).toMatchObject({ status: 'created' })
  await events.said(/"key":"battery_v","value":12\.6/)
})

/** A command that goes on until the test is over. By lines, so that what it says is heard when it says it. */
function watch(environment: string, line: string): Program {
  const args = ['-oL', 'bash', '-c', `${environment}; exec ${line} 2>/dev/null`]
  return new Program({ command: 'stdbuf', debianPackage: 'coreutils' }, args)
}

describe('faultIn()', () => {
  const record = (key: string, value: number) => {
    return { key, value, geo: { lat: 60, long: 23 }, datetime: `2026010100000${value}` }
  }
  const sailed = (value: number, sentAt: number, acknowledgedAt: number): SentWrite => {
    const records = [record('speed', value), record('depth', value)]
    return { measurement: { measuredAt: value, records, isRefused: false }, sentAt, acknowledgedAt }
  }
  const [one, two, three] = [sailed(1, 10, 20), sailed(2, 15, 40), sailed(3, 30, 50)]
  const writes = [one, two, three]
  const arrived = (...those: SentWrite[]) => those.flatMap(({ measurement }) => measurement.records)

  test.each([
    ['in the order in which they were sent', [one, two, three]],
    ['in another order, where they were under way together', [two, one, three]],
  ])('finds none in writes that arrive %s', (_, those) => {
    expect(faultIn(arrived(...those), writes)).toBeUndefined()
  })

  test.each([
    ['a write is missing', arrived(one, two), /^1 writes did not arrive$/],
    ['a write comes again', arrived(one, one, two, three), /^speed at 20260101000001 .* again$/],
    ['a write is overtaken by one that was sent later', arrived(three, one, two), /sent later$/],
    ['a record is missing', arrived(one, two, three).toSpliced(1, 1), /as it was sent$/],
    ['records of a write change places', arrived(one, two, three).toReversed(), /where no write begins/],
  ])('finds that %s', (_, readings, fault) => {
    expect(faultIn(readings, writes)).toMatch(fault)
  })
})
