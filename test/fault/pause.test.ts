import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createThing } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { PauseRun, pauses } from './pause.ts'

/** The short form of `npm run fault -- --only pauses`. */

test.concurrent.for(pauses)(
  'what is acknowledged is stored and told, and nothing else, over %s under load',
  async (pause, { onTestFinished }) => {
    const run = new PauseRun(await temporaryDirectory(onTestFinished))
    onTestFinished(() => run.abandon())
    for (let round = 0; round < 3; round++) expect((await run.pause(pause)).violations).toEqual([])
    expect(await run.finish()).toEqual([])
  },
)

test.concurrent('a client that has pinged during a pause of the server stays connected', async ({
  onTestFinished,
}) => {
  const server = await startServer({ dataDir: await temporaryDirectory(onTestFinished) })
  onTestFinished(async () => void (await server.kill()))
  const thing = await createThing(server)
  const client = await connectMqtt({
    url: server.mqttUrl,
    clientId: 'board',
    username: 'board',
    password: thing.thingToken,
    keepalive: 2,
    deadline: 60_000,
  })
  server.process.kill('SIGSTOP')
  const answered = client.ping()
  // Longer than the server waits for a client of this keep-alive.
  await delay(4_500)
  server.process.kill('SIGCONT')
  await answered
  await client.ping()
})
