import { loadavg } from 'node:os'
import { type RunningNodes, startNodes } from '../../test/helpers/cluster.ts'
import { noRateLimits } from '../../test/helpers/server-process.ts'
import { createProgress } from '../load/progress.ts'
import { median } from '../statistics.ts'
import { type Door, Load } from './load.ts'

export interface BesideBeforeSetup {
  /** `dist/cli/main.js` of another tree. */
  readonly command: string
  readonly seconds: number
  /** Seconds, before each measurement. */
  readonly warmUp: number
  readonly rounds: number
}

const doors: readonly Door[] = ['MQTT', 'HTTP']
const unmarked = { onBegin: () => {}, onEnd: () => {} }

/** One node at full load in turn with one of another build, each on a Redis of its own: what a change is worth. Nothing is judged. */
export async function besideBefore({ command, seconds, warmUp, rounds }: BesideBeforeSetup): Promise<void> {
  const clusters: RunningNodes[] = []
  try {
    const start = async (setup: { readonly command?: string }) => {
      const cluster = await startNodes(1, { ...setup, environment: noRateLimits })
      clusters.push(cluster)
      return cluster.nodes
    }
    const [nodes, nodesBefore] = [await start({}), await start({ command })]
    const onProgress = createProgress(doors.length * rounds, done => `rounds done: ${done}`)
    let done = 0
    for (const door of doors) {
      const sides = [await Load.open(door, nodes), await Load.open(door, nodesBefore)]
      const ratios: number[] = []
      for (let round = 0; round < rounds; round++) {
        const rates: number[] = []
        // In turn, so that neither is always the first.
        for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const load = sides[side]
          if (load) rates[side] = await rateOf(load, { warmUp, measured: seconds })
        }
        ratios.push((rates[0] ?? Number.NaN) / (rates[1] ?? Number.NaN))
        onProgress(++done)
      }
      const [lowest, highest] = [Math.min(...ratios), Math.max(...ratios)].map(ratio => ratio.toFixed(2))
      console.log(
        `${door}, full load: writes/s, this build / before ${median(ratios).toFixed(2)} (${lowest} to ${highest}), ` +
          `${rounds} rounds of ${seconds} s, load of the machine ${loadavg()[0]?.toFixed(1)}`,
      )
    }
  } finally {
    for (const cluster of clusters) await cluster.end()
  }
}

async function rateOf(load: Load, phases: { readonly warmUp: number; readonly measured: number }) {
  const { done, seconds } = await load.run(Number.POSITIVE_INFINITY, phases, unmarked)
  return done / seconds
}
