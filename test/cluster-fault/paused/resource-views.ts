import { readAll, type Thing } from '../../helpers/http-client.ts'
import { connectMqtt, isMessageOn } from '../../helpers/mqtt-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { untilNothingWrong } from '../participant.ts'
import { difference, shown } from './difference.ts'
import type { LiveValues } from './live-values.ts'
import type { SentWrites } from './sent-writes.ts'

/** Within which everything that was acknowledged has to be seen everywhere, milliseconds. */
export const settledWithin = 8_000

export interface ResourceViews {
  readonly nodes: readonly ServerProcess[]
  readonly thing: Thing
  readonly key: string
  readonly sent: SentWrites
  /** Told everything since before the first write, at a node that was not paused. */
  readonly told: LiveValues
}

/** Values of a resource over REST, oldest first. */
export async function storedIn(server: ServerProcess, thing: Thing, key: string): Promise<string[]> {
  const records = await readAll(server, thing, key)
  return records.map(({ value }) => String(value)).toReversed()
}

/**
 * What is wrong with what is stored, and told, of an ordinary resource, in words: REST of each node is what may be stored,
 * in order; live messages came in that order; the retained message is the latest.
 */
export function checkViews(views: ResourceViews): Promise<readonly string[]> {
  return untilNothingWrong(() => lookAt(views), settledWithin)
}

async function lookAt({ nodes, thing, key, sent, told }: ResourceViews): Promise<readonly string[]> {
  const what = `${key} of ${thing.thingId}`
  const seen = await Promise.all(
    nodes.map(async server => ({
      stored: await storedIn(server, thing, key),
      retained: await retainedOf(server, thing, key),
    })),
  )
  const stored = seen[0]?.stored ?? []
  return [
    ...sent.check(stored).map(wrong => `${wrong}; stored ${shown(stored)}`),
    ...difference(['stored', stored], ['told live', told.of(key).map(String)]),
    ...seen.flatMap((view, place) => [
      ...difference(['stored', stored], [`at node ${place}`, view.stored]),
      ...(view.retained === view.stored.at(-1)
        ? []
        : [`retained at node ${place}: expected ${view.stored.at(-1)}, got ${view.retained}`]),
    ]),
  ].map(wrong => `${what}: ${wrong}`)
}

async function retainedOf(
  { mqttUrl: url }: ServerProcess,
  { thingId, thingToken }: Thing,
  key: string,
): Promise<string> {
  const client = await connectMqtt({ url, username: 'reader', password: thingToken })
  try {
    const topic = `things/${thingId}/values/${key}`
    await client.subscribe(topic)
    const { payload, retain } = await client.next(isMessageOn(topic))
    const { value } = JSON.parse(payload.toString()) as { value: unknown }
    return retain ? String(value) : `not retained: ${value}`
  } finally {
    await client.destroy()
  }
}
