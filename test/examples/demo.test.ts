import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { faultIn } from '../../examples/voyage/order.ts'
import { commands } from '../../examples/voyage/report.ts'
import type { SailedWrite } from '../../examples/voyage/sail.ts'
import { Program } from '../clients/program.ts'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const run = promisify(execFile)

test('the demo sails half of the voyage through each door, sees it live and reads every value back', async () => {
  // Its exit status says whether all was there.
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'examples/voyage/demo.ts', '--exit'])
  expect(stdout).toMatch(/^MQTT QoS 1 +21,7\d\d records +907 × PUBACK .* writes\/s .* records\/s$/m)
  expect(stdout).toMatch(/^HTTP +21,7\d\d records +906 × 201 .* writes\/s .* records\/s$/m)
  expect(stdout).toMatch(/stored 43,486 of 43,486 records, seen live [\d,]+$/m)
  expect(stdout).toMatch(/^readings +36,236 of 36,236, each once and in order$/m)
  expect(stdout).toMatch(/^positions +[\d,]+, the last 59\.855667° N 23\.399017° E$/m)
  expect(stdout).toContain('REST says that the boat is at 59.855667° N 23.399017° E\n')
  expect(stdout.match(/every value equal$/gm)).toHaveLength(7)
  expect(stdout).not.toContain('No terminal')
})

test('the demo without a terminal says that it is not to be watched', async () => {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'examples/voyage/demo.ts'])
  expect(stdout).toMatch(/^No terminal: .* checks everything and ends/m)
})

test('the demo on a terminal sails in time from both doors and says where the dashboard is, in 80 columns', async () => {
  const began = Date.now()
  const dataPlace = await temporaryDirectory()
  const line = `TMPDIR=${dataPlace} npm run --silent demo -- --speed 500`
  const demo = new Program({ command: 'script', debianPackage: 'bsdutils' }, ['-qec', line, '/dev/null'])
  const [url = '', token = ''] = await demo.said(/^ {2}(http:[^\s#]+)\/#\S+\r\n {2}(\S{43})\r$/m)
  expect(await (await fetch(url)).text()).toContain('<title>Thingwire')
  await demo.said(/ row [\d,]{3,} of 7,250, 0:00:\d\d of 0:00:29/)
  const positions = await readAll({ url, adminKey: '' }, { thingId: '', thingToken: token }, '$geo')
  const [latest = 0, before = 0] = positions.map(({ datetime }) => Date.parse(datetime))
  expect(before).toBeGreaterThan(began)
  // Rows are two seconds apart; which of two doors is ahead is not said.
  expect([4, 8]).toContain(latest - before)
  demo.type('\u0003')
  const { output } = await demo.ended
  expect(output.split(/[\r\n]+/).filter(text => text.length > 80)).toEqual([])
  // npm may be gone before the demo is.
  const left = async () => (await readdir(dataPlace)).filter(name => name.startsWith('thingwire'))
  await expect.poll(left).toEqual([])
})

test('the demo names a --speed that it cannot sail at', async () => {
  const ending = run(process.execPath, ['--import', 'tsx', 'examples/voyage/demo.ts', '--speed', 'warp'])
  await expect(ending).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('"warp"') })
})

test('the commands that the demo prints do what they say', async () => {
  const server = await startServer({ dataDir: await temporaryDirectory() })
  onTestFinished(async () => void (await server.stop()))
  const thing = await createThing(server)
  await write(server, thing, { values: [{ key: 'fuel', value: 9.7 }] })
  const text = commands(server.url, server.mqttUrl, thing.thingToken).replaceAll(/\\\n */g, '')
  const lines = text.split('\n').filter(line => line.startsWith('  '))
  expect(lines).toHaveLength(15)
  const [token = '', boat = '', ...pasted] = lines
  const environment = `${token}; ${boat}`
  const [subscribe = '', stream = '', ...others] = pasted
  const [dashboard, events] = [watch(environment, subscribe), watch(environment, stream)]
  await dashboard.said(/values\/fuel .*"value":9\.7/)
  await events.said(/^id: /m)

  const cwd = await temporaryDirectory()
  const outputs: string[] = []
  for (const line of others) {
    outputs.push((await run('bash', ['-c', `${environment}; ${line}`], { cwd })).stdout)
  }
  const parsed = outputs.map(output => output && JSON.parse(output))
  const [created, , fuel, , settings, refused, , errors, names] = parsed
  expect(created).toMatchObject({ status: 'created' })
  expect(fuel).toMatchObject([{ value: 9.9 }, { value: 9.8 }, { value: 9.7 }])
  expect(settings).toMatchObject([{ value: { alarm: { depth: 3 } } }])
  expect(refused).toMatchObject({ reason: 'invalid_key' })
  expect(errors).toMatchObject([
    { door: 'mqtt', reason: 'invalid_key' },
    { door: 'http', reason: 'invalid_key' },
  ])
  expect(names).toEqual({ resources: ['$settings', 'fuel'] })
  await dashboard.said(/values\/fuel .*"value":9\.8.*\n.*values\/fuel .*"value":9\.9/)
  await dashboard.said(/values\/\$settings .*"value":\{"alarm":\{"depth":3\}\}/)
  await events.said(/"value":9\.8[\s\S]*"value":9\.9[\s\S]*"\$settings\.alarm\.depth"/)
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
  const sailed = (value: number, sentAt: number, acknowledgedAt: number): SailedWrite => {
    return { records: [record('speed', value), record('depth', value)], sentAt, acknowledgedAt }
  }
  const [one, two, three] = [sailed(1, 10, 20), sailed(2, 15, 40), sailed(3, 30, 50)]
  const writes = [one, two, three]
  const arrived = (...those: SailedWrite[]) => those.flatMap(({ records }) => records)

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
