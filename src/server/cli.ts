#!/usr/bin/env -S node --heap-growing-percent=20 --max-semi-space-size=2
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { loadOptions } from './load-options.ts'
import { migrateDataDir } from './migrate.ts'
import { declarationOf, flagName, optionNames } from './options.ts'
import { optionsHelp } from './options-table.ts'
import { restoreDataDir } from './restore.ts'
import { runServer } from './run.ts'

const help = `Thingwire takes readings from things, stores them durably in time order, and gives them back.

  thingwire [start] [--config <file>] [--<option> <value>]…   runs the server until SIGTERM or Ctrl-C
  thingwire restore <backup> [--data-dir <directory>]         makes a new data directory of a backup
  thingwire migrate [--data-dir <directory>]                  moves its store into the Redis of THINGWIRE_REDIS_URL
  thingwire --version
  thingwire --help

Try it:
  thingwire --data-dir ./try --http-port 8080
  KEY=$(cat ./try/admin-key)
  curl -X POST -H "Authorization: Bearer $KEY" http://127.0.0.1:8080/v2/admin/things
  curl -d '{"values":[{"key":"temperature","value":21.5}]}' http://127.0.0.1:8080/v2/things/<thingToken>
  mosquitto_pub -q 1 -t 'things/<thingToken>/write' -m '{"values":[{"key":"temperature","value":21.5}]}'
  curl http://127.0.0.1:8080/v2/things/<thingToken>/resources/temperature
  curl -X POST -H "Authorization: Bearer $KEY" http://127.0.0.1:8080/v2/admin/backup > backup

Options (each also as a variable: --http-port is THINGWIRE_HTTP_PORT; the admin key only as THINGWIRE_ADMIN_KEY or in
a file):
${optionsHelp()}
`

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parse(args)
  const [command = 'start', ...operands] = positionals
  if (values.help === true) return console.log(help)
  if (values.version === true) return console.log(await version())
  const flags = values as Record<string, string | undefined>
  if (command === 'start' && operands.length === 0) return runServer(await loadOptions(flags, process.env))
  if (command === 'migrate' && operands.length === 0) {
    return migrateDataDir(await loadOptions(flags, process.env))
  }
  const [backup] = operands
  if (command === 'restore' && backup !== undefined && operands.length === 1) {
    const { dataDir } = await loadOptions(flags, process.env)
    await restoreDataDir(backup, dataDir)
    return console.log(`Restored into ${dataDir}`)
  }
  throw new Error(`unknown command ${positionals.join(' ')} (see thingwire --help)`)
}

function parse(args: string[]) {
  const options = Object.fromEntries(
    optionNames
      .filter(name => !declarationOf(name).secret)
      .map(name => [flagName(name), { type: 'string' }] as const),
  )
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        ...options,
        config: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    })
  } catch (error) {
    // Node adds advice in further sentences and lines.
    const [sentence] = (error as Error).message.split(/\.?\n|\. /, 1)
    throw new Error(`${sentence} on the command line (see thingwire --help)`)
  }
}

async function version(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

main(process.argv.slice(2)).catch((error: Error) => {
  const isDefect = /^(Type|Reference|Range|Syntax)Error$/.test(error.name)
  console.error(`thingwire: ${isDefect ? error.stack : error.message.replaceAll('\n', ' ')}`)
  process.exit(1)
})
