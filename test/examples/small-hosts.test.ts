import { expect, onTestFinished, test } from 'vitest'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { runExample } from './run-example.ts'

/** examples/mqtt-host and examples/http-host as processes: they import the built package by its name, as a user does. */

const adminKey = 'an-admin-key-for-the-small-examples'
const environment = { EXAMPLE_ADMIN_KEY: adminKey }

test('a host with a broker alone takes the writes of a thing that it has created', async () => {
  const args = ['--mqtt-port', '0', '--data-dir', await temporaryDirectory()]
  const ready = /^A pump may write to (things\/\S+\/write) at (\S+)$/
  const host = await runExample('mqtt-host/server.ts', args, ready, environment)
  const [topic = '', url = ''] = host.ready
  const client = await connectMqtt({ url })
  onTestFinished(() => client.destroy())
  await client.publish(topic, { values: [{ key: 'pressure', value: 2.4 }] })
  expect(await host.stop()).toEqual({ code: 0, stderr: '' })
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
