import { writeFile } from 'node:fs/promises'
import { ask, createThing, type ServerAddress, type Thing } from '../../helpers/http-client.ts'
import { connectAccepted } from '../../helpers/mqtt-client.ts'
import * as content from './content.ts'

/**
 * Fills the store of a running server of any age and writes its backup: `fill.ts <url> <mqtt url> <things|sessions|topics>
 * [<backup>]`, with the admin key in THINGWIRE_ADMIN_KEY. README.md says how the fixtures were made of it.
 */
async function fill(
  server: ServerAddress,
  mqttUrl: string,
  extent: content.Extent,
  backup?: string,
): Promise<void> {
  const boat = await createThing(server)
  await ask(server, 'PATCH', `/v2/admin/things/${boat.thingId}`, { name: 'boat' })
  await fillThing(server, boat, backup === undefined ? content.fewTemperatures : content.temperatures)
  if (extent !== 'things') await fillSessions(server, mqttUrl, boat)
  if (extent === 'topics') await fillTopics(server, mqttUrl)
  // Applied, packed and summarised behind the acks.
  await new Promise(resolve => setTimeout(resolve, 8_000))
  if (backup === undefined) return
  const response = await fetch(`${server.url}/v2/admin/backup`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.adminKey}` },
  })
  if (!response.ok) throw new Error(`no backup: ${response.status}`)
  await writeFile(backup, Buffer.from(await response.arrayBuffer()))
}

async function fillThing(
  server: ServerAddress,
  { thingId, thingToken }: Thing,
  temperatures: readonly content.Reading[],
): Promise<void> {
  const write = (body: object) => ask(server, 'POST', `/v2/things/${thingToken}`, body)
  for (let from = 0; from < temperatures.length; from += 100) {
    await write({ values: temperatures.slice(from, from + 100) })
  }
  for (const reading of content.depths) await write({ values: [reading] })
  for (const values of [content.notes, content.crowd, content.gone])
    await write({ id: `${values[0]?.key}`, values })
  await write({ values: [{ key: '$geo', value: content.place }] })
  await write({ values: [{ key: '$settings', value: content.settings }] })
  // Listed as refused.
  await write({ values: [{ key: 'no key', value: 1 }] }).catch(() => {})
  await ask(server, 'DELETE', `/v2/things/${thingId}/resources/gone`)
}

async function fillSessions(
  server: ServerAddress,
  mqttUrl: string,
  { thingToken, thingId }: Thing,
): Promise<void> {
  const address = { url: mqttUrl, username: thingToken, clean: false }
  const watcher = await connectAccepted({ ...address, clientId: 'watcher' })
  await watcher.subscribeTo({ topic: `things/${thingId}/values/missed`, qos: 1 })
  await watcher.disconnect()
  for (const reading of content.missed)
    await ask(server, 'POST', `/v2/things/${thingToken}`, { values: [reading] })
  const device = await connectAccepted({ ...address, clientId: 'device' })
  const writeTopic = `things/${thingToken}/write`
  await device.publishUntilPubrec(writeTopic, content.inFlight, { messageId: content.inFlightId })
  await device.disconnect()
  // Connected until this process ends.
  const will = { topic: writeTopic, payload: content.will, qos: 1 } as const
  await connectAccepted({ ...address, clientId: 'will', clean: true, will })
}

async function fillTopics(server: ServerAddress, mqttUrl: string): Promise<void> {
  const topics = ['read', 'write'].map(access => ({ filter: 'tele/#', access }))
  const named = (name: string) => ask<Thing>(server, 'POST', '/v2/admin/things', { name, topics })
  const [hub, plug] = [await named('hub'), await named('plug')]
  const ofHub = { url: mqttUrl, username: hub.thingToken, clientId: 'hub', clean: false }
  const away = await connectAccepted(ofHub)
  await away.subscribeTo({ topic: 'tele/+/STATE', qos: 1 }, { topic: 'tele/+/SENSOR', qos: 2 })
  await away.disconnect()
  const publisher = await connectAccepted({ url: mqttUrl, username: plug.thingToken })
  for (const { topic, payload, qos } of content.queued) await publisher.publish(topic, payload, { qos })
  for (const { topic, payload, qos } of content.retained)
    await publisher.publish(topic, payload, { qos, retain: true })
  await publisher.ping()
  await publisher.disconnect()
  const silent = await connectAccepted({ ...ofHub, acknowledges: false })
  await silent.next(({ cmd }) => cmd === 'publish')
  await silent.destroy()
}

const [url = '', mqttUrl = '', extent = '', backup] = process.argv.slice(2)
await fill(
  { url, adminKey: process.env.THINGWIRE_ADMIN_KEY ?? '' },
  mqttUrl,
  extent as content.Extent,
  backup,
)
process.exit()
