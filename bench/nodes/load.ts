import { setImmediate as nextTurn } from 'node:timers/promises'
import { Connection } from '../../test/fault/load.ts'
import { createThing, type Thing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { MqttLink } from '../../test/soak/mqtt-link.ts'
import { Timing } from '../../test/soak/timing.ts'

export type Door = 'MQTT' | 'HTTP'

export interface LoadResult {
  readonly writes: number
  readonly seconds: number
  readonly acks: Timing
}

interface Writer {
  unacked: number
  /** Resolves when the write is acknowledged. */
  write(body: string): Promise<void>
  close(): Promise<void>
}

/** Connections to each node: as many as it takes to give it all that it can do. */
const writers: Readonly<Record<Door, number>> = { MQTT: 20, HTTP: 200 }
/** Most unacknowledged writes of a connection. Over HTTP there is one. */
const window: Readonly<Record<Door, number>> = { MQTT: 64, HTTP: 1 }
/** Things that write one number at a time, each over a connection of its own, to all nodes alike. */
export class Load {
  readonly #door: Door
  readonly #writers: readonly Writer[]
  #count = 0

  private constructor(door: Door, all: readonly Writer[]) {
    this.#door = door
    this.#writers = all
  }

  static async open(door: Door, nodes: readonly ServerProcess[]): Promise<Load> {
    const all: Writer[] = []
    for (let place = 0; place < writers[door] * nodes.length; place++) {
      const node = nodes[place % nodes.length]
      if (node) all.push(await open[door](node, await createThing(node)))
    }
    return new Load(door, all)
  }

  /**
   * Writes as things do that know nothing of one another: at a rate, each whenever it likes (a Poisson process), so that what
   * a node can do for several at once is no more than chance brings together.
   *
   * @param rate writes a second; Infinity: as many as are acknowledged
   * @throws Error if a write is not acknowledged
   */
  async run(rate: number, seconds: number): Promise<LoadResult> {
    const acks = new Timing()
    const inHand = new Set<Promise<void>>()
    const begin = performance.now()
    const elapsed = () => (performance.now() - begin) / 1_000
    let writes = 0
    let dueAt = 0
    while (elapsed() < seconds) {
      for (let busy = 0; dueAt <= elapsed() && busy < this.#writers.length; ) {
        const writer = this.#writers[this.#count++ % this.#writers.length]
        if (!writer || writer.unacked >= window[this.#door]) {
          busy++
          continue
        }
        busy = 0
        dueAt -= Math.log(1 - Math.random()) / rate
        const sentAt = performance.now()
        writer.unacked++
        const writing = writer.write(`{"values":[{"key":"n","value":${writes++}}]}`).then(() => {
          writer.unacked--
          acks.take(sentAt)
          inHand.delete(writing)
        })
        inHand.add(writing)
      }
      // A timer has whole milliseconds, in which what is due would gather.
      await nextTurn()
    }
    await Promise.all(inHand)
    return { writes, seconds: elapsed(), acks }
  }

  async close(): Promise<void> {
    for (const writer of this.#writers) await writer.close()
  }
}

const open: Readonly<Record<Door, (node: ServerProcess, thing: Thing) => Promise<Writer>>> = {
  MQTT: async ({ mqttUrl: url }, { thingToken }) => {
    const link = await MqttLink.open({ url, clientId: 'bench', password: thingToken })
    const topic = `things/${thingToken}/write`
    return { unacked: 0, write: body => link.publish(topic, body, 1), close: () => link.disconnect() }
  },
  HTTP: async ({ url }, { thingToken }) => {
    const connection = new Connection(url)
    const write = async (body: string) => {
      const { status } = await connection.post(`/v2/things/${thingToken}`, body)
      if (status !== 201) throw new Error(`a write was answered ${status}`)
    }
    return { unacked: 0, write, close: async () => connection.close() }
  },
}
