import { expect, it } from 'vitest'
import { ask, type Thing } from '../helpers/http-client.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { servedTopics, topicGrants } from './mqtt/topic-grants.ts'
import { mutateMqtt } from './mutate-mqtt.ts'

it('mutateMqtt() finds nothing wrong in 5 s of spoiled packets', async () => {
  const environment = { THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1000000', ...servedTopics }
  const server = await startServer({ dataDir: await temporaryDirectory(), environment })
  try {
    const createThing = () => ask<Thing>(server, 'POST', '/v2/admin/things', { topics: topicGrants })
    const things = [await createThing(), await createThing()]
    // How long healthy clients wait is measured by `npm run fuzz`, on a machine that does nothing else.
    const { sent, findings } = await mutateMqtt({ server, things, seed: 1, seconds: 5, longestWait: 20_000 })
    expect(findings).toEqual([])
    expect(sent).toBeGreaterThan(20)
  } finally {
    const { stderr } = await server.stop()
    expect(stderr.split('\n').filter(line => /"level":[56]0/.test(line))).toEqual([])
  }
})
