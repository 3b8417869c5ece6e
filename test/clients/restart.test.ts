import { expect, it } from 'vitest'
import { createThing, write } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { recordValue } from './client.ts'
import { liveClients } from './clients.ts'

/** Every client in turn with the server stopped and started while it is away. */

const endings = [
  { ending: 'stopped', end: 'stop' },
  { ending: 'killed', end: 'kill' },
] as const

it.each(endings)('every client finds its session in a server that was $ending', async ({ end }) => {
  const dataDir = await temporaryDirectory()
  const first = await serverOfTest({ dataDir })
  const dashboards = await Promise.all(
    liveClients.map(async client => {
      const thing = await createThing(first)
      const topic = `things/${thing.thingToken}/values/n`
      const subscribing = { filters: [topic], qos: 1, username: thing.thingToken, clientId: 'away' } as const
      await (await client.subscribe(first, subscribing)).leave()
      await write(first, thing, { values: [{ key: 'n', value: 'before' }] })
      return { client, thing, topic, subscribing }
    }),
  )
  await first[end]()
  const second = await serverOfTest({ dataDir })
  for (const { client, thing, topic, subscribing } of dashboards) {
    await write(second, thing, { values: [{ key: 'n', value: 'after' }] })
    const { inbox } = await client.subscribe(second, subscribing)
    await write(second, thing, { values: [{ key: 'n', value: 'live' }] })
    const received = await inbox.until(message => recordValue(message) === 'live')
    const live = received.filter(({ retain }) => !retain)
    expect({ client: client.name, values: live.map(recordValue) }).toEqual({
      client: client.name,
      values: ['before', 'after', 'live'],
    })
    expect(new Set(received.map(message => message.topic))).toEqual(new Set([topic]))
  }
})
