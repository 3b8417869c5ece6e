import { Command } from 'commander'
import { addBackup } from './commands/backup.ts'
import { addCodes } from './commands/codes.ts'
import { addDemo } from './commands/demo.ts'
import { addDescribe } from './commands/describe.ts'
import { addDoctor } from './commands/doctor.ts'
import { addExplain } from './commands/explain.ts'
import { addExport } from './commands/export.ts'
import { addForward } from './commands/forward.ts'
import { addImport } from './commands/import.ts'
import { addRead } from './commands/read.ts'
import { addRemove } from './commands/remove.ts'
import { addServe } from './commands/serve.ts'
import { addSessions } from './commands/sessions.ts'
import { addSources } from './commands/sources.ts'
import { addStores } from './commands/stores.ts'
import { addTail } from './commands/tail.ts'
import { addThings } from './commands/things.ts'
import { addTokens } from './commands/tokens.ts'
import { addWrite } from './commands/write.ts'

const firstSteps = `
Try it:
  thingwire serve --data-dir ./try                     # in a separate terminal
  export THINGWIRE_DATA_DIR=./try                      # commands find the admin key here
  thingwire things create boat                         # shows the token of the device
  thingwire write boat temperature=21.5
  thingwire read boat temperature
  thingwire tail boat                                  # shows new readings as they arrive
  thingwire doctor boat                                # finds out why a device gets no readings through

thingwire <command> --help explains a command; docs/reference/command-line.md has all commands on one page.`

/** Creates the whole command line: commands with their options, help and actions. */
export function createProgram(): Command {
  const program = new Command('thingwire')
    .description('Takes readings from things, stores them durably in time order, and shows them live.')
    .option('-v, --version', 'show the version')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .addHelpText('after', firstSteps)
  program.commandsGroup('The server:')
  addServe(program)
  addDemo(program)
  addForward(program)
  addStores(program)
  addBackup(program)
  program.commandsGroup('Readings:')
  addWrite(program)
  addRead(program)
  addDescribe(program)
  addTail(program)
  addExport(program)
  addImport(program)
  addRemove(program)
  program.commandsGroup('Things and access:')
  addThings(program)
  addTokens(program)
  addSources(program)
  addSessions(program)
  addCodes(program)
  program.commandsGroup('When something is wrong:')
  addDoctor(program)
  addExplain(program)
  return program
}
