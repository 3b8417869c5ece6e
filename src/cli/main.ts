#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --heap-growing-percent=70 --max-semi-space-size=16 --no-allocation-site-pretenuring
import { CommanderError } from 'commander'
import { Redactor } from '../core/refusals/redactor.ts'
import { CommandError, exitStatus } from './exit.ts'
import { createProgram } from './program.ts'
import { suggestion } from './suggest.ts'

/** The `thingwire` command. */
async function main(args: readonly string[]): Promise<void> {
  // The reader of the output may close it early, as in `thingwire read boat depth | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-v')) {
    const { readVersion } = await import('../server/version.ts')
    return console.log(await readVersion())
  }
  // Commander's own default command is not used, since it would take a mistyped command for an operand.
  const isForServer = (args[0] ?? '-').startsWith('-') && !args.some(arg => arg === '--help' || arg === '-h')
  await createProgram().parseAsync(isForServer ? ['serve', ...args] : [...args], { from: 'user' })
}

/** Prints an error on stderr. @returns the exit status */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    // With this code, commander has shown the help instead of an error.
    if (error.code !== 'commander.help') say(usageMessage(advised(error)))
    return exitStatus.usage
  }
  if (error instanceof CommandError) {
    say(error.message)
    for (const detail of error.details) console.error(`  ${detail.replaceAll('\n', ' ')}`)
    return error.status
  }
  const isDefect = error instanceof Error && /^(Type|Reference|Range|Syntax)Error$/.test(error.name)
  if (isDefect) console.error(`thingwire: ${error.stack}`)
  else say(error instanceof Error ? error.message : String(error))
  return exitStatus.failed
}

/** Commander's message. Our suggestion, if there is one, replaces commander's, since ours also matches parts of names. */
function advised({ code, message: text }: CommanderError): string {
  const message = text.replace(/^error: /, '')
  const [, word = ''] = /'(\S+)'/.exec(message) ?? []
  const advice = adviceFor(code, word)
  return advice === '' ? message : message.replace(/\n\(Did you mean .*$|\.$/s, '') + advice
}

/** The similar commands or options, the subcommands of a group such as \`thingwire tokens\`, or the arguments of a command. */
function adviceFor(code: string, word: string): string {
  const { commands } = createProgram()
  const [, first, second] = process.argv.slice(1)
  const group = commands.find(each => each.name() === first)
  const command = group?.commands.find(each => each.name() === second) ?? group
  if (code === 'commander.unknownOption')
    return suggestion(word, command?.options.flatMap(({ long }) => long ?? []) ?? [])
  if (code === 'commander.unknownCommand' && group)
    return ` (${group.name()} has the commands ${group.commands.map(each => each.name()).join(', ')})`
  if (code === 'commander.unknownCommand')
    return suggestion(
      word,
      commands.flatMap(each => each.commands.map(inner => `${each.name()} ${inner.name()}`)),
    )
  if (code !== 'commander.excessArguments' || !command) return ''
  const path = [...new Set([group?.name(), command.name()])].join(' ')
  return `: the form is thingwire ${path} ${command.usage()}, and a text with spaces needs quotes`
}

/** Redacts the message: a token from an earlier version may begin with a hyphen, and commander quotes it as an unknown option. */
function usageMessage(message: string): string {
  const shown = new Redactor().redact(message)
  const advice = shown === message ? '' : '; write -- before an argument that begins with a hyphen'
  return `${shown} (see --help)${advice}`
}

function say(message: string): void {
  console.error(`thingwire: ${message.replaceAll('\n', ' ')}`)
}

main(process.argv.slice(2)).catch((error: unknown) => process.exit(report(error)))
