import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { runExample } from './run-example.ts'

/** examples/mqtt-host and examples/http-host as processes: they import the built package by its name, as a user does. */

const adminKey = 'an-admin-key-for-the-small-examples'
const environment = { EXAMPLE_ADMIN_KEY: adminKey }

test('a host with a broker alone takes the writes of a pump that it has created once', async () => {
  const dataDir = await temporaryDirectory()
  const ready = /^The pump may write at (\S+)\. Its token is in (\S+)$/
  const tokens = new Set<string>()
  for (let start = 1; start <= 2; start++) {
    const args = ['--mqtt-port', '0', '--data-dir', dataDir]
    const host = await runExample('mqtt-host/server.ts', args, ready, environment)
    const [url = '', tokenFile = ''] = host.ready
    const token = await readFile(tokenFile, 'utf8')
    tokens.add(token)
    const client = await mqttOfTest({ url })
    await client.publish(`things/${token}/write`, { values: [{ key: 'pressure_bar', value: 2.4 }] })
    expect(await host.stop()).toEqual({ code: 0, stderr: '' })
  }
  expect(tokens.size).toBe(1)
})

test('a host with an app alone has its own route beside those of the things', async () => {
  const args = ['--http-port', '0', '--data-dir', await temporaryDirectory()]
  const host = await runExample('http-host/server.ts', args, /^The shop has things at (\S+)$/, environment)
  const address = { url: host.ready[0] ?? '', adminKey }
  const thing = await createThing(address)
  expect((await write(address, thing, { values: [{ key: 'door', value: 'open' }] })).status).toBe(201)
  expect(await readAll(address, thing, 'door')).toMatchObject([{ value: 'open' }])
  expect(await (await fetch(address.url)).json()).toEqual({ shop: 'open' })
  expect(await host.stop()).toEqual({ code: 0, stderr: '' })
})

test.each([
  ['host', 'EXAMPLE_ADMIN_KEY'],
  ['http-host', 'EXAMPLE_ADMIN_KEY'],
  ['mqtt-host', 'EXAMPLE_ADMIN_KEY'],
  ['magic', 'EXAMPLE_ADMIN_KEY'],
  ['page', 'THING_TOKEN'],
])('examples/%s says in one line that %s is not set', async (example, name) => {
  const env = { ...process.env, [name]: '' }
  const stderr = await new Promise<string>((resolve, reject) => {
    const args = ['--import', 'tsx', `examples/${example}/server.ts`]
    execFile(process.execPath, args, { env }, (error, _stdout, stderr) => {
      if (error?.code === 1) resolve(stderr)
      else reject(new Error(`ended with ${error?.code ?? 0}: ${stderr}`))
    })
  })
  expect(stderr).toMatch(new RegExp(`^${name} is not set\\. Type: export ${name}=.*\\n$`))
})
