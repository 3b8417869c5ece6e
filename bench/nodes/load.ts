import { createThing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { type LoadResult, type Marks, ofThings, type Phases, runWrites } from '../load/writes.ts'

export type Door = 'MQTT' | 'HTTP'

/** Connections to each node: as many as it takes to give it all that it can do. */
const connections: Readonly<Record<Door, number>> = { MQTT: 20, HTTP: 200 }
/** Most unacknowledged writes of a connection over MQTT: at full load, and where writes come at times of their own. */
const [fullWindow, openWindow] = [64, 1_000]

/**
 * Writes as fast as is acknowledged; or as things do that know nothing of one another, each whenever it likes (a Poisson
 * process), so that what a node can do for several at once is no more than chance brings together.
 *
 * @param rate writes a second, of all nodes together; Infinity: as many as are acknowledged
 * @throws Error if a write is not acknowledged
 */
export type RunLoad = (rate: number, phases: Phases, marks?: Marks) => Promise<LoadResult>

/** Things that write one number at a time, each over a connection of its own, to all nodes alike. */
export async function openLoad(door: Door, nodes: readonly ServerProcess[]): Promise<RunLoad> {
  const tokens: string[] = []
  for (let place = 0; place < connections[door]; place++)
    for (const node of nodes) tokens.push((await createThing(node)).thingToken)
  const ports = nodes.map(node => Number(new URL(node[door === 'HTTP' ? 'url' : 'mqttUrl']).port))
  const common = { ...ofThings(nodes[0]?.mqttUrl ?? '', tokens), ports }
  const { host, payload: body } = common
  const paths = tokens.map(token => `/v2/things/${token}`)
  return (rate, phases, marks) => {
    const isFull = rate === Number.POSITIVE_INFINITY
    const pace = isFull ? {} : { rate }
    const writes =
      door === 'MQTT'
        ? { ...common, window: isFull ? fullWindow : openWindow }
        : { host, ports, connections: tokens.length, paths, body }
    return runWrites({ ...writes, ...pace }, phases, marks)
  }
}
