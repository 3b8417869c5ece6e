import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ask, type Session } from '../helpers/http-client.ts'
import { isMessageOn, type MqttAddress } from '../helpers/mqtt-client.ts'
import { mqttOfTest, nodeOfTest, serverOfTest } from '../helpers/of-test.ts'
import { redisOfTest } from '../helpers/redis-of-test.ts'
import { runCli, type ServerProcess } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** What is kept of other topics goes where the store goes. */

const environment = { THINGWIRE_TOPICS: 'house/#' }
const topics = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]

/** A session that is owed ten messages, and a retained message. @returns the password of the session */
async function leaveBehind(server: ServerProcess): Promise<string> {
  const body = { things: [], access: 'read', topics }
  const { sessionToken } = await ask<Session>(server, 'POST', '/v2/admin/sessions', body)
  const subscriber = await connect(server, sessionToken, false)
  await subscriber.subscribe('house/+', 2)
  await subscriber.disconnect()
  const publisher = await connect(server, sessionToken)
  for (let n = 0; n < 10; n++) await publisher.publish('house/n', `${n}`, { qos: 2 })
  await publisher.publish('house/below/retained', 'kept', { retain: true })
  return sessionToken
}

async function expectFound(server: ServerProcess, password: string): Promise<void> {
  const client = await connect(server, password, false)
  expect(client.connack.sessionPresent).toBe(true)
  for (let n = 0; n < 10; n++) {
    const message = await client.next(isMessageOn('house/n'))
    expect(`${message.payload} at ${message.qos}`).toBe(`${n} at 2`)
  }
  await client.subscribe('house/below/#')
  expect(await client.next(isMessageOn('house/below/retained'))).toMatchObject({ retain: true })
  await client.publish('house/n', 'next')
  expect(String((await client.next(isMessageOn('house/n'))).payload)).toBe('next')
}

function connect({ mqttUrl: url }: ServerProcess, password: string, clean = true) {
  const address: MqttAddress = { url }
  return mqttOfTest({ ...address, username: 'x', password, clean, ...(!clean && { clientId: 'kept' }) })
}

it('a backup has it', async () => {
  const server = await serverOfTest({ environment })
  const password = await leaveBehind(server)
  const response = await fetch(`${server.url}/v2/admin/backup`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.adminKey}` },
  })
  const directory = await temporaryDirectory()
  const [file, dataDir] = [join(directory, 'house.backup'), join(directory, 'data')]
  await writeFile(file, Buffer.from(await response.arrayBuffer()))
  expect(await runCli({ args: ['restore', file, '--data-dir', dataDir] })).toMatchObject({ code: 0 })
  await expectFound(await serverOfTest({ dataDir, environment }), password)
})

it('a server that is killed has it when it starts again', async () => {
  const dataDir = await temporaryDirectory()
  const server = await serverOfTest({ dataDir, environment })
  const password = await leaveBehind(server)
  await server.kill()
  await expectFound(await serverOfTest({ dataDir, environment }), password)
})

it('migrate moves it into Redis', async () => {
  const [dataDir, redis] = [await temporaryDirectory(), await redisOfTest()]
  const server = await serverOfTest({ dataDir, environment })
  const password = await leaveBehind(server)
  await server.stop()
  const moved = await runCli({
    args: ['migrate', '--data-dir', dataDir],
    environment: { THINGWIRE_REDIS_URL: redis.url },
  })
  expect(moved).toMatchObject({ code: 0 })
  expect(await runCli({ args: ['check', '--data-dir', dataDir] })).toMatchObject({ code: 0 })
  await expectFound(await nodeOfTest(redis.url, server.adminKey, { environment }), password)
})
