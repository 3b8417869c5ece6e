import { once } from 'node:events'
import type { Aedes } from 'aedes'
import { isMessageOn, isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { connectTo, connectUser, type OwnHost } from './own-host.ts'

/**
 * What clients of a host do among themselves: retained messages, every QoS, a will, a persistent session, refusals.
 *
 * @returns what they saw, to be compared with what they see at another host
 */
export async function hostTraffic({ broker }: OwnHost, url: string): Promise<unknown[]> {
  const seen: unknown[] = []
  const see = async (client: MqttClient, topic: string) => {
    const { payload, qos, retain, dup } = await client.next(isMessageOn(topic))
    seen.push({ topic, payload: payload.toString(), qos, retain, dup })
    if (qos === 2) await client.next(isOf('pubrel'))
  }

  let panel = await connectUser(url, 'panel', { clean: false })
  seen.push(panel.connack.returnCode, panel.connack.sessionPresent)
  for (const filter of ['plant/#', 'closed/door']) seen.push(await panel.subscribeAll([filter], 2))
  const will = { topic: 'plant/controller/gone', payload: 'for good', qos: 1, retain: true } as const
  const controller = await connectUser(url, 'controller', { will })
  for (const qos of [0, 1, 2] as const) {
    await controller.publish(`plant/press/${qos}`, `at ${qos}`, { qos, retain: qos === 1 })
    await see(panel, `plant/press/${qos}`)
  }

  const nameless = await connectTo(url, { clientId: '' })
  seen.push(await nameless.subscribe('plant/press/+'))
  await see(nameless, 'plant/press/1')
  await gone(broker, () => nameless.disconnect())

  await panel.ping()
  await gone(broker, () => panel.destroy())
  await controller.publish('plant/saw/1', 'missed', { qos: 1 })
  await controller.publish('plant/saw/2', 'missed too', { qos: 2 })
  panel = await connectUser(url, 'panel', { clean: false })
  seen.push(panel.connack.sessionPresent)
  await see(panel, 'plant/saw/1')
  await see(panel, 'plant/saw/2')

  await gone(broker, () => controller.destroy())
  await see(panel, 'plant/controller/gone')
  const stranger = await connectUser(url, 'stranger', { password: 'guess' })
  seen.push(stranger.connack.returnCode)
  await stranger.closed
  await gone(broker, async () => {
    await panel.publish('closed/door', 'open').catch(() => seen.push('closed without an ack'))
  })
  await panel.closed
  return seen
}

/** Resolves when the broker has noticed that a client went away. */
async function gone(broker: Aedes, leave: () => Promise<unknown>): Promise<void> {
  const noticed = once(broker, 'clientDisconnect')
  await leave()
  await noticed
}
