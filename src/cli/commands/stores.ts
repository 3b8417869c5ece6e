import type { Command } from 'commander'
import { failure, usageError } from '../exit.ts'
import { counted, grouped, printJson, printLine } from '../output.ts'
import { Progress, sizeText } from '../progress.ts'
import { teach } from '../teach.ts'
import { loadServerOptions, serverFlags } from './serve.ts'

/** Commands on a data directory that no server holds: `thingwire restore|migrate|check`. */
export function addStores(program: Command): void {
  teach(
    program
      .command('restore')
      .description('Make a new data directory of a backup.')
      .usage('<backup> [--data-dir <directory>]')
      .argument('<backup>', 'file that thingwire backup has made')
      .argument('[options...]', 'options of the server, such as --data-dir')
      .allowUnknownOption()
      .action((_backup: string, _rest: string[], _flags: object, command: Command) => restore(command)),
    {
      examples: [
        ['restore boat.backup --data-dir ./new', 'everything of the backup, in ./new'],
        ['serve --data-dir ./new', 'then a server on it; it makes a new admin key'],
      ],
      notes: ['The directory must be new or empty. The admin key is no part of a backup.'],
      exit: '0 restored; 1 a line on stderr says what is wrong, and the directory is as it was; 2 wrong command line',
    },
  )
  teach(
    program
      .command('migrate')
      .description('Move the store of a data directory into the Redis of THINGWIRE_REDIS_URL.')
      .usage('[--data-dir <directory>]')
      .argument('[options...]', 'options of the server, such as --data-dir')
      .allowUnknownOption()
      .action((_rest: string[], _flags: object, command: Command) => migrate(command)),
    {
      examples: [
        ['migrate --data-dir ./data', 'with THINGWIRE_REDIS_URL set; compares both sides at the end'],
        ['migrate --config config/cluster.json', 'the Redis is named in a file'],
      ],
      notes: [
        'Broken off, the same command goes on. docs/use/operations.md says how to move a service.',
        'Positions of event streams stay behind: these are documents that check counts and migrate does not.',
      ],
      exit: '0 the same on both sides; 1 a line on stderr says what to do; 2 wrong command line',
    },
  )
  teach(
    program
      .command('check')
      .description('Read a whole store that no process holds, and say whether it is sound.')
      .usage('[--data-dir <directory>] [--json]')
      .argument('[options...]', 'options of the server, such as --data-dir')
      .option('--json', 'one JSON document')
      .allowUnknownOption()
      .action((_rest: string[], flags: { json?: true }, command: Command) => check(command, flags)),
    {
      examples: [
        ['check --data-dir ./data', 'stop the server before'],
        ['check --data-dir ./data --json', 'counts and faults for a program'],
      ],
      notes: [
        'To check a service that runs, check a copy: thingwire backup, thingwire restore, thingwire check.',
      ],
      exit: '0 sound; 1 faults were found, or the store cannot be opened; 2 wrong command line',
    },
  )
}

async function restore(command: Command): Promise<void> {
  const { flags, operands } = await serverFlags(command.args, usageError)
  const [backup, ...more] = operands
  if (backup === undefined || more.length > 0) throw usageError('restore takes one backup (see --help)')
  const { dataDir } = await loadServerOptions(flags)
  const { restoreDataDir } = await import('../../server/restore.ts')
  await restoreDataDir(backup, dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === 'access') throw failure(`cannot read the backup ${backup}: ${error.message}`)
    if (error.syscall !== 'mkdir') throw error
    throw failure(`cannot make the data directory ${dataDir}: ${error.message}; name another with --data-dir`)
  })
  await printLine(`Restored into ${dataDir}`)
}

async function migrate(command: Command): Promise<void> {
  const { flags, operands } = await serverFlags(command.args, usageError)
  if (operands.length > 0) throw usageError('migrate takes options alone (see --help)')
  const { migrateDataDir } = await import('../../server/migrate.ts')
  await migrateDataDir(await loadServerOptions(flags))
}

async function check(command: Command, { json }: { readonly json?: true }): Promise<void> {
  const { flags, operands } = await serverFlags(command.args, usageError)
  if (operands.length > 0) throw usageError('check takes options alone (see --help)')
  const { dataDir } = await loadServerOptions(flags)
  const { storeLocation } = await import('../../server/choose-store.ts')
  const { checkLevelStore } = await import('../../store/level/index.ts')
  const location = storeLocation(dataDir)
  const progress = new Progress()
  const found = await checkLevelStore(location, ({ step, done }) =>
    progress.show(() => `${step}: ${grouped(done)}`),
  )
  progress.clear()
  const { things, resources, records, states, documents, bytes, faultCount, faults } = found
  if (json) await printJson({ location, ...found })
  else {
    await printLine(
      `${location}: ${counted(records, 'record')} in ${counted(resources, 'resource')} of ${counted(things, 'thing')}, ${counted(states, 'state')}, ${counted(documents, 'document')}, ${sizeText(bytes)}`,
    )
    for (const { where, fault } of faults) await printLine(`${where}: ${fault}`)
    await printLine(faultCount === 0 ? 'No faults.' : `${counted(faultCount, 'fault')}.`)
  }
  if (faultCount > 0)
    throw failure(`${location} has faults: restore a backup (thingwire restore), or ask with what check says`)
}
