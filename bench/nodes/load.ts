import { createThing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { type LoadResult, type Marks, ofThings, type Phases, runWrites } from '../load/writes.ts'

export type Door = 'MQTT' | 'HTTP'

/** Connections to each node: as many as it takes to give it all that it can do. */
const connections: Readonly<Record<Door, number>> = { MQTT: 20, HTTP: 200 }
/** Most unacknowledged writes of a connection over MQTT: at full load, and where writes come at times of their own. */
const fullWindow = 64
const openWindow = 1_000
const body = '{"values":[{"key":"n","value":21.5}]}'

/** Things that write one number at a time, each over a connection of its own, to all nodes alike. */
export class Load {
  readonly #door: Door
  readonly #nodes: readonly ServerProcess[]
  readonly #tokens: readonly string[]

  private constructor(door: Door, nodes: readonly ServerProcess[], tokens: readonly string[]) {
    this.#door = door
    this.#nodes = nodes
    this.#tokens = tokens
  }

  static async open(door: Door, nodes: readonly ServerProcess[]): Promise<Load> {
    const tokens: string[] = []
    for (let place = 0; place < connections[door] * nodes.length; place++) {
      const node = nodes[place % nodes.length]
      if (node) tokens.push((await createThing(node)).thingToken)
    }
    return new Load(door, nodes, tokens)
  }

  /**
   * Writes as fast as is acknowledged; or as things do that know nothing of one another, each whenever it likes (a Poisson
   * process), so that what a node can do for several at once is no more than chance brings together.
   *
   * @param rate writes a second, of all nodes together; Infinity: as many as are acknowledged
   * @throws Error if a write is not acknowledged
   */
  run(rate: number, phases: Phases, marks?: Marks): Promise<LoadResult> {
    const isFull = rate === Number.POSITIVE_INFINITY
    const common = {
      ...ofThings(this.#nodes[0]?.mqttUrl ?? '', this.#tokens),
      ports: this.#nodes.map(node => Number(new URL(node[this.#door === 'HTTP' ? 'url' : 'mqttUrl']).port)),
      ...(isFull ? {} : { rate }),
    }
    if (this.#door === 'MQTT')
      return runWrites({ ...common, payload: body, window: isFull ? fullWindow : openWindow }, phases, marks)
    const { topics: _, ...connections } = common
    const paths = this.#tokens.map(token => `/v2/things/${token}`)
    const headers = { 'content-type': 'application/json' }
    return runWrites({ ...connections, paths, headers, body, expectedStatus: 201 }, phases, marks)
  }
}
