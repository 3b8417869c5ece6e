import type { Command } from 'commander'
import { usageError } from '../exit.ts'
import { teach } from '../teach.ts'

interface Flags {
  readonly speed: string
  readonly exit?: true
}

/** `thingwire demo`. */
export function addDemo(program: Command): void {
  teach(
    program
      .command('demo')
      .description(
        'See it with the data of a real sailing voyage, on a data directory that is removed at the end.',
      )
      .option('--speed <n>', 'the boat sails n times as fast as it did, 1 to 1000', '1')
      .option('--exit', 'send everything at once, check that all of it was seen live and kept, and end')
      .action(demo),
    {
      examples: [
        ['demo', 'three things with days of history, and live; prints a link that signs in'],
        ['demo --speed 60', 'an hour of sailing takes a minute'],
        ['demo --exit', 'the same data as a check of this machine'],
      ],
      notes: [
        'Uses ports 8080 and 1883 if both are free, else any two. Without a terminal it is demo --exit.',
      ],
      exit: '0 ended by Ctrl-C, or everything was seen and kept; 1 something was not, or failed; 2 wrong command line',
    },
  )
}

async function demo({ speed, exit }: Flags): Promise<void> {
  const factor = Number(speed)
  if (!(factor >= 1 && factor <= 1_000)) {
    throw usageError(`--speed must be a number from 1 to 1000: "${speed}" is not`)
  }
  const isWatched = process.stdin.isTTY === true
  if (!exit && !isWatched) {
    console.log('No terminal: sends everything at once, checks it and ends. Run it in a terminal to watch.')
  }
  const { runDemo } = await import('../demo/demo.ts')
  // Connections that are cut off may still wait for their time-outs.
  process.exit(await runDemo({ speed: factor, exit: exit === true || !isWatched }))
}
