import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Packet } from 'mqtt-packet'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, type MqttClient, openMqtt } from '../../helpers/mqtt-client.ts'
import * as placeholders from './bytes.ts'
import type { MqttCase } from './case.ts'

/** What stands for the placeholders. */
type Target = Readonly<Record<'thing' | 'other', Thing>>

/** How the bytes are cut into segments, or messages of a WebSocket. */
export type Pacing = 'at once' | 'packet by packet' | 'byte by byte'

/**
 * Plays a case on a connection of its own.
 *
 * @returns what came back, as the case says it, and what then held
 */
export async function play(
  hostile: MqttCase,
  url: string,
  target: Target,
  pacing: Pacing = 'at once',
): Promise<Pick<MqttCase, 'answers' | 'outcome'>> {
  const client = await openMqtt({ url, acknowledges: false })
  try {
    await send(
      client,
      hostile.sends.map(bytes => fill(bytes, target)),
      pacing,
      hostile.answers[0] === 'connack 0',
    )
    if (hostile.outcome === 'open') return { answers: await openAnswers(client, hostile), outcome: 'open' }
    if (hostile.outcome === 'unfinished') {
      if (hostile.answers.length > 0) await client.next()
      client.stream.end()
    }
    await client.untilClosed()
    return { answers: client.received.map(tell), outcome: hostile.outcome }
  } finally {
    await client.destroy()
  }
}

/** What was answered before two PINGREQs that are sent behind it; PINGRESPs last, which wait for nothing. */
async function openAnswers(client: MqttClient, { answers }: MqttCase): Promise<readonly string[]> {
  const others = () => client.received.map(tell).filter(answer => answer !== 'pingresp')
  const expected = answers.filter(answer => answer !== 'pingresp').length
  for (let ping = expected; ping < answers.length; ping++) await client.next(isOf('pingresp'))
  await client.ping()
  while (others().length < expected && !client.stream.destroyed) await arrival(client)
  // Behind which nothing more is on its way.
  await client.ping()
  const pings = client.received.length - others().length - 2
  return [...others(), ...new Array<string>(pings).fill('pingresp')]
}

/** @param isLetIn the first packet is a CONNECT that is accepted */
async function send(
  client: MqttClient,
  packets: readonly Buffer[],
  pacing: Pacing,
  isLetIn: boolean,
): Promise<void> {
  if (pacing === 'at once') return client.sendBytes(Buffer.concat(packets))
  for (const packet of packets) {
    for (const part of pacing === 'byte by byte' ? [...packet].map(byte => Buffer.of(byte)) : [packet]) {
      if (client.stream.destroyed) return
      client.sendBytes(part)
      await nextTurn()
    }
    // A byte that comes behind the end resets the connection: what is not read by then, the kernel throws away.
    if (isLetIn && client.received.length === 0) await arrival(client)
  }
}

async function arrival({ stream, closed }: MqttClient): Promise<void> {
  if (!stream.destroyed) await Promise.race([once(stream, 'data'), closed])
}

/** The bytes with what their placeholders stand for. */
export function fill(bytes: Uint8Array, { thing, other }: Target): Buffer {
  const text = Buffer.from(bytes)
    .toString('latin1')
    .replaceAll(placeholders.token, thing.thingToken)
    .replaceAll(placeholders.thingId, thing.thingId)
    .replaceAll(placeholders.otherId, other.thingId)
  return Buffer.from(text, 'latin1')
}

function tell(packet: Packet): string {
  const { cmd, messageId } = packet
  if (cmd === 'connack') return `connack ${packet.returnCode}`
  if (cmd === 'suback') return `suback ${messageId}: ${packet.granted.join(' ')}`
  return messageId === undefined ? cmd : `${cmd} ${messageId}`
}
