import type { Command } from 'commander'
import type { ServerOptions } from '../../server/options/options.ts'
import { usageError } from '../exit.ts'
import { withHelp } from '../help.ts'

interface Flags {
  readonly host?: string
  readonly httpPort?: string
  readonly mqttPort?: string
  readonly speed: string
  readonly exit?: true
}

export function addDemo(program: Command): void {
  withHelp(
    program
      .command('demo')
      .description('Run a server with the data of a real sailing voyage. The data is removed at the end.')
      .option(
        '--host <address>',
        'address to listen on: 0.0.0.0 for a browser on another machine; default 127.0.0.1',
      )
      .option('--http-port <port>', 'port for HTTP and the page; default 8080, or another if it is taken')
      .option('--mqtt-port <port>', 'port for MQTT; default 1883, or another if it is taken')
      .option('--speed <n>', 'speed of the boat, 1 to 1000 times the real one', '1')
      .option('--exit', 'send all data at once, check that it arrived live and is stored, and end')
      .action(demo),
    {
      examples: [
        ['demo', 'three things with days of history and live readings; prints a link that signs in'],
        ['demo --speed 60', 'an hour of sailing in a minute'],
        ['demo --host 0.0.0.0', 'on a Raspberry Pi without a screen, for the browser of another machine'],
        ['demo --exit', 'checks this machine with the same data'],
      ],
      notes: [
        'demo uses ports 8080 and 1883 if both are free, else two other ports. Without a terminal it runs as demo --exit.',
      ],
      exit: '0 ended by Ctrl-C, or all data arrived and is stored; 1 data is missing, or the demo failed; 2 wrong command line',
    },
  )
}

async function demo({ speed, exit, ...flags }: Flags): Promise<void> {
  const factor = Number(speed)
  if (!(factor >= 1 && factor <= 1_000)) {
    throw usageError(`--speed must be a number from 1 to 1000, but it is ${speed}`)
  }
  const isWatched = process.stdin.isTTY === true
  if (!exit && !isWatched) {
    console.log(
      'No terminal: the demo sends all data at once, checks it and ends. Run it in a terminal to watch.',
    )
  }
  const { runDemo } = await import('../demo/demo.ts')
  // Exits explicitly: connections that were cut off may still wait for their timeouts, and would keep the process running.
  process.exit(await runDemo({ speed: factor, exit: exit === true || !isWatched, options: optionsOf(flags) }))
}

/** @throws CommandError usage */
function optionsOf({ host, httpPort, mqttPort }: Omit<Flags, 'speed' | 'exit'>): Partial<ServerOptions> {
  return {
    ...(host !== undefined && { host }),
    ...(httpPort !== undefined && { httpPort: portOf('--http-port', httpPort) }),
    ...(mqttPort !== undefined && { mqttPort: portOf('--mqtt-port', mqttPort) }),
  }
}

function portOf(option: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw usageError(`${option} must be a port from 0 (any free one) to 65535, but it is ${text}`)
}
