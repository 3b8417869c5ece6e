import type { Command } from 'commander'

/** What the help of a command shows in addition to its options. */
export interface HelpText {
  /** Command lines without the leading `thingwire `, each with a description. */
  readonly examples: readonly (readonly [commandLine: string, does: string])[]
  /** Paragraphs that explain what the options do not explain. */
  readonly notes?: readonly string[]
  /** The exit statuses of this command, if they differ from `exitText`. */
  readonly exit?: string
}

const helpTexts = new WeakMap<Command, HelpText>()

/** The meaning of every exit status, for the help of each command that talks to a server. */
export const exitText =
  '0 done; 1 refused or failed; 2 wrong command line; 3 no answer from the server; 4 credential missing, unknown or not allowed; 130 Ctrl-C'

/** Adds notes, examples and exit statuses to the help of a command. */
export function withHelp(command: Command, helpText: HelpText): Command {
  helpTexts.set(command, helpText)
  const examples = helpText.examples.map(([line, does]) => `  # ${does}\n  thingwire ${line}`).join('\n\n')
  return command.addHelpText('after', () => {
    const wrapped = (text: string) => command.createHelp().boxWrap(text, process.stdout.columns || 100)
    const notes = (helpText.notes ?? []).map(note => `\n${wrapped(note)}\n`).join('')
    return `${notes}\nExamples:\n${examples}\n\n${wrapped(`Exit status: ${exitOf(helpText)}`)}`
  })
}

export function helpOf(command: Command): HelpText | undefined {
  return helpTexts.get(command)
}

export function exitOf({ exit = exitText }: HelpText): string {
  return exit
}
