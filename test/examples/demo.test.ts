import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { commands } from '../../examples/voyage/report.ts'
import { createThing } from '../helpers/http-client.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const run = promisify(execFile)

test('the demo sails half of the voyage through each door and reads every value back', async () => {
  // Its exit status says whether all was there.
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'examples/voyage/demo.ts', '--exit'])
  expect(stdout).toMatch(/^MQTT QoS 1 +18,1\d\d records +907 × PUBACK .* writes\/s .* records\/s$/m)
  expect(stdout).toMatch(/^HTTP +18,1\d\d records +906 × 201 .* writes\/s .* records\/s$/m)
  expect(stdout.match(/every value equal$/gm)).toHaveLength(6)
  expect(stdout).toContain('36,236 of 36,236')
})

test('the commands that the demo prints do what they say', async () => {
  const server = await startServer({ dataDir: await temporaryDirectory() })
  onTestFinished(async () => void (await server.stop()))
  const { thingToken } = await createThing(server)
  const lines = commands(server.url, server.mqttUrl, thingToken)
    .split('\n')
    .filter(line => line.startsWith('  '))
  const cwd = await temporaryDirectory()
  const outputs: string[] = []
  for (const line of lines) outputs.push((await run('bash', ['-c', line], { cwd })).stdout)
  const [created, , depths, refused, , errors, names] = outputs.map(output => output && JSON.parse(output))
  expect(lines).toHaveLength(9)
  expect(created).toMatchObject({ status: 'created' })
  expect(depths).toMatchObject([{ value: 9.9 }, { value: 9.8 }])
  expect(refused).toMatchObject({ reason: 'invalid_key' })
  expect(errors).toMatchObject([
    { door: 'mqtt', reason: 'invalid_key' },
    { door: 'http', reason: 'invalid_key' },
  ])
  expect(names).toEqual({ resources: ['depth'] })
})
