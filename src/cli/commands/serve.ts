import { parseArgs } from 'node:util'
import type { Command } from 'commander'
import type { TypedNames } from '../../server/options/load-options.ts'
import { failure, usageError } from '../exit.ts'
import { withHelp } from '../help.ts'
import { suggestion } from '../suggest.ts'

/** Only the action imports the server. Every command loads this file, and commands such as `read` do not need the server. */

const ownExit = '0 stopped by SIGTERM or Ctrl-C; 1 failed, with a line on stderr; 2 unknown command'

/** `thingwire serve`, which also runs if the command is `start` or missing. */
export function addServe(program: Command): void {
  const serve = program
    .command('serve')
    .alias('start')
    .description('Run the server until SIGTERM or Ctrl-C. This is the default command.')
    .usage('[--config <file>] [--<option> <value>]…')
    .argument('[options...]')
    .helpOption(false)
    .allowUnknownOption()
    .action((_operands: string[], _flags: object, command: Command) => run(command))
  withHelp(serve, {
    examples: [
      ['serve --data-dir ./try --http-port 8081', 'HTTP on 8081, MQTT on 1883, all data in ./try'],
      ['serve --config config/cluster.json', 'one of several nodes, on the Redis of THINGWIRE_REDIS_URL'],
    ],
    notes: [
      'thingwire start does the same. docs/reference/options.md and thingwire serve --help list all options. Each option is also a variable: --http-port is THINGWIRE_HTTP_PORT. The first start creates the admin key in <data-dir>/admin-key.',
    ],
    exit: ownExit,
  })
}

async function run(command: Command): Promise<void> {
  const { flags, operands, wantsHelp } = await serverFlags(command.args)
  if (wantsHelp) {
    const { optionsHelp } = await import('../../server/options/options.ts')
    command.outputHelp()
    process.stdout.write(`\nOptions:\n${optionsHelp()}\n`)
    return
  }
  if (operands[0] !== undefined) throw usageError(`unknown command ${operands[0]} (see thingwire --help)`)
  const { runServer } = await import('../../server/run.ts')
  await runServer(await loadServerOptions(flags))
}

/**
 * Parses a command line with server options.
 *
 * @param mistake makes the error for a wrong command line. Default: `failure`, which `serve` uses for all wrong options
 * @throws CommandError made by `mistake`
 */
export async function serverFlags(args: readonly string[], mistake: typeof usageError = failure) {
  const { declarationOf, environmentName, flagName, optionNames } = await import(
    '../../server/options/options.ts'
  )
  const secret = optionNames.find(
    name => declarationOf(name).secret && args.some(arg => arg.split('=', 1)[0] === `--${flagName(name)}`),
  )
  if (secret !== undefined) {
    const why = 'is not allowed on the command line, where other users could read it'
    throw mistake(
      `--${flagName(secret)} ${why}: set ${environmentName(secret)}, or ${secret} in a --config file`,
    )
  }
  const known = Object.fromEntries(
    optionNames
      .filter(name => !declarationOf(name).secret)
      .map(name => [flagName(name), { type: 'string' }] as const),
  )
  const options = { ...known, config: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
  try {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    const { help, ...flags } = values as Record<string, string | undefined> & { help?: boolean }
    return {
      flags: flags as Record<string, string | undefined>,
      operands: positionals,
      wantsHelp: help === true,
    }
  } catch (error) {
    // Only the first sentence is shown: Node's further sentences and lines are advice.
    const [sentence] = (error as Error).message.split(/\.?\n|\. /, 1)
    const [, unknown = ''] = /^Unknown option '(.+)'$/.exec(sentence ?? '') ?? []
    const advice = suggestion(
      unknown,
      Object.keys(options).map(name => `--${name}`),
    )
    throw mistake(`${sentence} on the command line${advice} (see thingwire serve --help)`)
  }
}

/** Loads the server options from the command line, environment and config file. @throws Error with one line for the operator */
export async function loadServerOptions(
  flags: Readonly<Record<string, string | undefined>>,
  typed: TypedNames = {},
) {
  const { loadOptions } = await import('../../server/options/load-options.ts')
  // A shell that starts a server may also have these variables for client commands; `loadOptions` would refuse them.
  const { THINGWIRE_URL: _url, THINGWIRE_TOKEN: _token, ...environment } = process.env
  return await loadOptions(flags, environment, typed)
}
