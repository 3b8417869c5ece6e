import { join } from 'node:path'
import type { Command } from 'commander'
import { failure, usageError } from '../exit.ts'
import { withHelp } from '../help.ts'
import { counted, grouped, printJson, printLine } from '../output.ts'
import { Progress, sizeText } from '../progress.ts'
import { loadServerOptions, serverFlags } from './serve.ts'

/** Commands for a data directory that no server has open: `thingwire restore|migrate|check`. */
export function addStores(program: Command): void {
  withHelp(
    program
      .command('restore')
      .description('Create a data directory from a backup.')
      .usage('<backup> [--data-dir <directory>]')
      .argument('<backup>', 'file from thingwire backup')
      .argument('[options...]', 'options of the server, such as --data-dir')
      .allowUnknownOption()
      .action((_backup: string, _rest: string[], _flags: object, command: Command) => restore(command)),
    {
      examples: [
        ['restore boat.backup --data-dir ./new', 'all data of the backup, into ./new'],
        ['serve --data-dir ./new', 'then a server on it, with a new admin key'],
      ],
      notes: ['The directory must be new or empty. A backup does not contain the admin key.'],
      exit: '0 restored; 1 failed, with a line on stderr, and the directory is unchanged; 2 wrong command line',
    },
  )
  withHelp(
    program
      .command('migrate')
      .description('Move the store of a data directory into the Redis of THINGWIRE_REDIS_URL.')
      .usage('[--data-dir <directory>]')
      .argument('[options...]', 'options of the server, such as --data-dir')
      .allowUnknownOption()
      .action((_rest: string[], _flags: object, command: Command) => migrate(command)),
    {
      examples: [
        [
          'migrate --data-dir ./data',
          'into the Redis of THINGWIRE_REDIS_URL; compares both stores at the end',
        ],
        ['migrate --config config/cluster.json', 'into the Redis that the file names'],
      ],
      notes: [
        'If migrate is interrupted, run it again: it continues where it stopped. docs/use/several-nodes.md has the steps to move a service.',
        'migrate does not move the positions of event streams. check counts them as documents, so its count is higher.',
      ],
      exit: '0 both stores are equal; 1 failed, with advice on stderr; 2 wrong command line',
    },
  )
  withHelp(
    program
      .command('check')
      .description('Read a whole store, and report damage. No server may use the store.')
      .usage('[--data-dir <directory>] [--json]')
      .argument('[options...]', 'options of the server, such as --data-dir')
      .option('--json', 'one JSON document')
      .allowUnknownOption()
      .action((_rest: string[], flags: { json?: true }, command: Command) => check(command, flags)),
    {
      examples: [
        ['check --data-dir ./data', 'stop the server first'],
        ['check --data-dir ./data --json', 'counts and faults as JSON'],
      ],
      notes: [
        'To check a running service, check a copy: thingwire backup, thingwire restore, thingwire check.',
      ],
      exit: '0 no faults; 1 faults, or the store cannot be opened; 2 wrong command line',
    },
  )
}

async function restore(command: Command): Promise<void> {
  const { flags, operands } = await serverFlags(command.args, usageError)
  const [backup, ...more] = operands
  if (backup === undefined || more.length > 0) throw usageError('restore takes one backup (see --help)')
  if (backup === '-') throw usageError('restore reads a file, not stdin: give the name of the backup')
  const options = await loadServerOptions(flags)
  const { ofDataDir, originOf } = await import('../../server/options/load-options.ts')
  const { restoreDataDir } = await import('../../server/keeping/restore.ts')
  await restoreDataDir(backup, options.dataDir).catch((error: NodeJS.ErrnoException) => {
    const { syscall, message } = error
    if (syscall === 'access' || syscall === 'read')
      throw failure(`cannot read the backup ${backup}: ${message}`)
    if (message.startsWith('cannot restore: '))
      throw failure(message.replace('cannot restore', `cannot restore ${backup}`))
    if (error.syscall !== 'mkdir') return ofDataDir(options)(error)
    throw failure(
      `cannot create the data directory ${options.dataDir}: ${error.message}; choose another one with --data-dir`,
    )
  })
  const key = options.adminKey
    ? `the key of the server is that of ${originOf(options, 'adminKey')}`
    : `the first start creates a new one, in ${join(options.dataDir, 'admin-key')}. To keep the old key, copy its file there first`
  await printLine(`Restored into ${options.dataDir}\nA backup contains no admin key: ${key}`)
}

async function migrate(command: Command): Promise<void> {
  const { flags, operands } = await serverFlags(command.args, usageError)
  if (operands.length > 0) throw usageError('migrate takes only options (see --help)')
  const { migrateDataDir } = await import('../../server/keeping/migrate.ts')
  await migrateDataDir(await loadServerOptions(flags))
}

async function check(command: Command, { json }: { readonly json?: true }): Promise<void> {
  const { flags, operands } = await serverFlags(command.args, usageError)
  if (operands.length > 0) throw usageError('check takes only options (see --help)')
  const options = await loadServerOptions(flags)
  const { ofDataDir } = await import('../../server/options/load-options.ts')
  const { storeLocation } = await import('../../server/keeping/choose-store.ts')
  const { checkLevelStore } = await import('../../store/level/index.ts')
  const location = storeLocation(options.dataDir)
  const progress = new Progress()
  const found = await checkLevelStore(location, ({ step, done }) =>
    progress.show(() => `${step}: ${grouped(done)}`),
  ).catch(ofDataDir(options))
  progress.clear()
  const { things, resources, records, states, documents, bytes, faultCount, faults, remnants } = found
  if (json) await printJson({ location, ...found })
  else {
    await printLine(
      `${location}: ${counted(records, 'record')} in ${counted(resources, 'resource')} of ${counted(things, 'thing')}, ${counted(states, 'state')}, ${counted(documents, 'document')}, ${sizeText(bytes)}`,
    )
    for (const name of remnants) {
      await printLine(
        `${name}: a remnant of a server that was killed, not part of the store; the next start removes it`,
      )
    }
    for (const { where, fault } of faults) await printLine(`${where}: ${fault}`)
    await printLine(faultCount === 0 ? 'No faults.' : `${counted(faultCount, 'fault')}.`)
  }
  if (faultCount > 0)
    throw failure(
      `${location} has faults: restore a backup (thingwire restore), or report the lines above as an issue`,
    )
}
