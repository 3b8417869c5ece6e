import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { faultIn } from '../../examples/voyage/order.ts'
import { commands } from '../../examples/voyage/report.ts'
import type { SailedWrite } from '../../examples/voyage/sail.ts'
import { Program } from '../clients/program.ts'
import { createThing, write } from '../helpers/http-client.ts'
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
})

test('the commands that the demo prints do what they say', async () => {
  const server = await startServer({ dataDir: await temporaryDirectory() })
  onTestFinished(async () => void (await server.stop()))
  const thing = await createThing(server)
  await write(server, thing, { values: [{ key: 'depth', value: 9.7 }] })
  const lines = commands(server.url, server.mqttUrl, thing.thingToken)
    .split('\n')
    .filter(line => line.startsWith('  '))
  expect(lines).toHaveLength(14)
  const [subscribe = '', stream = '', ...others] = lines
  const [dashboard, events] = [watch(subscribe), watch(stream)]
  await dashboard.said(/values\/depth .*"value":9\.7/)
  await events.said(/^id: /m)

  const cwd = await temporaryDirectory()
  const outputs: string[] = []
  for (const line of others) outputs.push((await run('bash', ['-c', line], { cwd })).stdout)
  const parsed = outputs.map(output => output && JSON.parse(output))
  const [created, , depths, , , position, refused, , errors, names] = parsed
  expect(created).toMatchObject({ status: 'created' })
  expect(depths).toMatchObject([{ value: 9.9 }, { value: 9.8 }, { value: 9.7 }])
  expect(position).toMatchObject([{ value: { type: 'Point', coordinates: [23.4, 59.9] } }])
  expect(refused).toMatchObject({ reason: 'invalid_key' })
  expect(errors).toMatchObject([
    { door: 'mqtt', reason: 'invalid_key' },
    { door: 'http', reason: 'invalid_key' },
  ])
  expect(names).toEqual({ resources: ['$geo', '$settings', 'depth'] })
  await dashboard.said(/values\/depth .*"value":9\.8.*\n.*values\/depth .*"value":9\.9/)
  await dashboard.said(/values\/\$geo .*"coordinates":\[23\.4,59\.9\]/)
  await dashboard.said(/values\/\$settings .*"value":\{"alarm":\{"depth":3\}\}/)
  await events.said(/"value":9\.8[\s\S]*"value":9\.9[\s\S]*"\$geo"[\s\S]*"\$settings\.alarm\.depth"/)
})

/** A command that goes on until the test is over. By lines, so that what it says is heard when it says it. */
function watch(line: string): Program {
  const args = ['-oL', 'bash', '-c', `exec ${line} 2>/dev/null`]
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
