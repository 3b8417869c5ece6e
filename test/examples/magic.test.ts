import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { isMessageOn, type MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type RunningExample, runExample } from './run-example.ts'

/** examples/magic as a process: it imports the built package by its name, as a user does. */

const adminKey = 'an-admin-key-for-the-magic-example'
const ended: (() => Promise<void>)[] = []
let dataDir = ''
let example: RunningExample

beforeAll(async () => {
  dataDir = await temporaryDirectory(remove => ended.push(remove))
  example = await start()
})

afterAll(async () => {
  await example.stop()
  for (const end of ended) await end()
})

test('a host has a magic resource of its own, over both doors', async () => {
  const thing = await createThing(address())
  const client = await connect(thing.thingToken)
  const topic = `things/${thing.thingId}/values/$battery`
  expect(await client.subscribe(topic)).toBe(1)
  expect((await write(address(), thing, { values: [battery(80, 1)] })).status).toBe(201)
  await client.publish(`things/${thing.thingId}/write`, { values: [battery(15, 3), battery(90, 2)] })
  const states = [await next(client, topic), await next(client, topic)]
  expect(states).toEqual([state(80, false, 1), state(15, true, 3)])
  const url = `${address().url}/v2/things/${thing.thingToken}`
  expect(await (await fetch(`${url}/resources/$battery`)).json()).toEqual([state(15, true, 3)])
  expect((await readAll(address(), thing, '$battery')).map(({ value }) => value)).toEqual([15, 90, 80])
  expect(await (await fetch(`${url}/resources`)).json()).toEqual({ resources: ['$battery'] })
})

test('its own check refuses a write', async () => {
  const thing = await createThing(address())
  const response = await write(address(), thing, { values: [battery(101, 1)] })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ errors: [{ index: 0, reason: 'invalid_magic_value' }] })
})

test('the state is there after a restart', async () => {
  const thing = await createThing(address())
  await write(address(), thing, { values: [battery(50, 5)] })
  expect(await example.stop()).toEqual({ code: 0, stderr: '' })
  example = await start()
  const client = await connect(thing.thingToken)
  const topic = `things/${thing.thingId}/values/$battery`
  await client.subscribe(topic)
  expect(await next(client, topic)).toEqual(state(50, false, 5))
  await write(address(), thing, { values: [battery(40, 4), battery(10, 6)] })
  expect(await next(client, topic)).toEqual(state(10, true, 6))
})

test('docs/use/magic.md shows the file that is run', async () => {
  const [docs, file] = await Promise.all(
    ['docs/use/magic.md', 'examples/magic/battery.ts'].map(path => readFile(path, 'utf8')),
  )
  expect(docs).toContain(`\`\`\`ts\n${file}\`\`\`\n`)
})

function start(): Promise<RunningExample> {
  const args = ['--http-port', '0', '--mqtt-port', '0', '--data-dir', dataDir]
  return runExample('magic/server.ts', args, /^Things have a \$battery at (\S+) and (\S+)$/, {
    EXAMPLE_ADMIN_KEY: adminKey,
  })
}

function address() {
  return { url: example.ready[0] ?? '', adminKey }
}

async function connect(thingToken: string): Promise<MqttClient> {
  return await mqttOfTest({ url: example.ready[1] ?? '', username: thingToken })
}

async function next(client: MqttClient, topic: string): Promise<unknown> {
  return JSON.parse((await client.next(isMessageOn(topic))).payload.toString())
}

function battery(value: number, second: number) {
  return { key: '$battery', value, datetime: time(second) }
}

function state(percent: number, low: boolean, second: number) {
  return { key: '$battery', value: { percent, low }, datetime: time(second) }
}

function time(second: number): string {
  return `2026-01-01T00:00:0${second}.000Z`
}
