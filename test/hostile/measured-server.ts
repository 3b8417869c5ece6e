import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { getHeapCodeStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * The command, run with the arguments of this file, that at SIGUSR2 collects its garbage and says on stdout how much
 * memory is left, and for how long at most it has done nothing else than one thing since it was last asked:
 * `standing {"data":…,"code":…,"external":…,"longestBlock":…}`, bytes and milliseconds.
 */

/** What one collection frees may hold, by a finaliser, what the next one can. */
const collections = 4
const between = 100

// What runs TypeScript turns them on. Node reads the map of a file at the first error of it, and keeps it: over a megabyte that no
// server has whose files are JavaScript.
process.setSourceMapsEnabled(false)

// Notes on the types that a function meets are no data of the server: made at its first call, not once it is called often, they
// are there before anything is measured.
setFlagsFromString('--no-lazy-feedback-allocation')
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const blocked = monitorEventLoopDelay({ resolution: 10 })
blocked.enable()

process.on('SIGUSR2', async () => {
  const longestBlock = blocked.max / 1e6
  collect()
  for (let done = 1; done < collections; done++) {
    await delay(between)
    collect()
  }
  // In the same turn: what is served meanwhile, and packed, makes garbage of 10 MB in a tenth of a second.
  const { heapUsed, external } = process.memoryUsage()
  const { code_and_metadata_size, bytecode_and_metadata_size } = getHeapCodeStatistics()
  const code = code_and_metadata_size + bytecode_and_metadata_size
  console.log(`standing ${JSON.stringify({ data: heapUsed - code, code, external, longestBlock })}`)
  blocked.reset()
})

await import('../../src/cli/main.ts')
