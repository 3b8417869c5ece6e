import { isDeepStrictEqual } from 'node:util'
import { type ReadRecord, readAll, type Thing } from '../helpers/http-client.ts'
import { connectMqtt, isOf } from '../helpers/mqtt-client.ts'
import { type Version, versionNames, versionOf } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { type Participant, untilNothingWrong } from './participant.ts'
import type { Service } from './server.ts'
import type { Writers } from './writers.ts'

/** Every record over REST, newest first, and every retained message; by resource. */
interface View {
  readonly history: ReadonlyMap<string, readonly ReadRecord[]>
  readonly retained: ReadonlyMap<string, ReadRecord>
}

/** Who reads the same things at every node, when nobody writes any more: they show the same (contract §7, retained). */
export class Views implements Participant {
  readonly name = 'views'
  readonly #service: Service
  readonly #writers: readonly Writers[]

  constructor(service: Service, writers: readonly Writers[]) {
    this.#service = service
    this.#writers = writers
  }

  async check(): Promise<readonly string[]> {
    const things = this.#writers.flatMap(writers => writers.things)
    const wrong = things.map(thing => untilNothingWrong(() => this.#look(thing)))
    return (await Promise.all(wrong)).flat()
  }

  async #look(thing: Thing): Promise<readonly string[]> {
    const views = await Promise.all(
      this.#service.members.map(({ server }, place) => viewOf(server, thing, versionOf(place))),
    )
    return views.flatMap(({ history, retained }, place) => {
      const at = `${thing.thingId} at node ${place}`
      const newest = new Map([...history].map(([key, [record]]) => [key, record]))
      return [
        ...(isDeepStrictEqual(history, views[0]?.history) ? [] : [`REST of ${at} is not that of node 0`]),
        ...(isDeepStrictEqual(retained, newest)
          ? []
          : [`retained messages of ${at}, in ${versionNames[versionOf(place)]}, are not what REST gives`]),
      ]
    })
  }
}

async function viewOf(server: ServerProcess, thing: Thing, version: Version): Promise<View> {
  const response = await fetch(`${server.url}/v2/things/${thing.thingToken}/resources`)
  const { resources } = (await response.json()) as { resources: readonly string[] }
  const read = async (key: string) => [key, await readAll(server, thing, key)] as const
  const history = new Map(await Promise.all(resources.map(read)))
  return { history, retained: await retainedOf(server, thing, '+', resources.length, version) }
}

/**
 * Retained messages by resource, over WebSocket: a node behind a load balancer wants to get a client's address first over MQTT.
 *
 * @param key of one resource, or `+` @throws Error if so many do not come
 */
export async function retainedOf(
  { webSocketUrl: url }: ServerProcess,
  { thingId, thingToken }: Thing,
  key: string,
  count: number,
  version: Version = 4,
): Promise<ReadonlyMap<string, ReadRecord>> {
  const client = await connectMqtt({
    url,
    protocolVersion: version,
    username: 'reader',
    password: thingToken,
  })
  try {
    await client.subscribe(`things/${thingId}/values/${key}`)
    const retained = new Map<string, ReadRecord>()
    while (retained.size < count) {
      const { topic, payload, retain } = await client.next(isOf('publish'))
      if (retain) retained.set(topic.slice(topic.lastIndexOf('/') + 1), JSON.parse(payload.toString()))
    }
    return retained
  } finally {
    await client.destroy()
  }
}
