import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { readAll, type ServerAddress, type Thing, write } from '../helpers/http-client.ts'
import type { ConnectOptions, MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { messagesOf } from '../mqtt/messages.ts'

/** Of every record: so they are read in the order in which they were committed (contract §4). */
const datetime = '2026-01-02T03:04:05.000Z'

/** A write of a record of the resource `n`. */
export function reading(value: string): object {
  return { values: [{ key: 'n', value, datetime }] }
}

/** A connection with the thing's token, which ends with the test. */
export async function connect(
  { mqttUrl }: ServerProcess,
  { thingToken }: Thing,
  options: ConnectOptions = {},
): Promise<MqttClient> {
  return await mqttOfTest({ url: mqttUrl, username: thingToken, ...options })
}

/** The values of `n` in commit order, as a node reads them. */
export async function committed(node: ServerAddress, thing: Thing): Promise<unknown[]> {
  return (await readAll(node, thing, 'n')).map(({ value }) => value).toReversed()
}

let writes = 0

/**
 * Writes through both doors of these nodes, until what is returned is called or the node is gone.
 *
 * @param pause of each writer, milliseconds: a session that is away may miss no more than 1,000 messages
 */
export function startWriting(nodes: readonly ServerProcess[], thing: Thing, pause = 5): () => Promise<void> {
  let isStopped = false
  const writing = nodes.flatMap(node =>
    (['HTTP', 1, 2] as const).map(async door => {
      const client = door === 'HTTP' ? undefined : await connect(node, thing)
      while (!isStopped) {
        const body = reading(`${door} ${++writes}`)
        if (door === 'HTTP') expect((await write(node, thing, body)).status).toBe(201)
        else await client?.publish(`things/${thing.thingToken}/write`, body, { qos: door })
        await delay(pause)
      }
    }),
  )
  const ended = Promise.allSettled(writing)
  return async () => {
    isStopped = true
    await ended
  }
}

/** Resolves when the client has been sent this value of `n`. */
export async function untilSent(client: MqttClient, value: string): Promise<void> {
  const isSent = () => valuesSent(client).some(sent => sent.value === value)
  while (!isSent()) await client.next(packet => packet.cmd === 'publish')
}

/** The values of `n` that a client was sent, in order. */
export function valuesSent(client: MqttClient): { readonly value: unknown; readonly dup: boolean }[] {
  return messagesOf(client, '/values/n')
    .filter(({ retain }) => !retain)
    .map(({ payload, dup }) => ({ value: (JSON.parse(payload) as { value: unknown }).value, dup }))
}

/**
 * What a session was sent over all its connections, in order, each value once.
 *
 * @throws Error if something was sent again without DUP
 */
export function sentOnce(clients: readonly MqttClient[]): unknown[] {
  const once = new Set<unknown>()
  for (const { value, dup } of clients.flatMap(valuesSent)) {
    if (once.has(value) && !dup) throw new Error(`${value} was sent again without DUP`)
    once.add(value)
  }
  return [...once]
}
