import type { Command } from 'commander'

/** What the help of a command shows beside its options. */
interface Lesson {
  /** Command lines after `thingwire `, each with what it does. */
  readonly examples: readonly (readonly [commandLine: string, does: string])[]
  /** Paragraphs: what the options alone do not say. */
  readonly notes?: readonly string[]
  /** Further exit statuses, or what one means here. */
  readonly exit?: string
}

const lessons = new WeakMap<Command, Lesson>()

/** The meaning of every exit status, for the help of each command that talks to a server. */
export const exitText =
  '0 done; 1 refused or failed; 2 wrong command line; 3 no answer from the server; 4 credential missing, unknown or not allowed; 130 Ctrl-C'

/** Adds notes, examples and exit statuses to the help of a command. */
export function teach(command: Command, lesson: Lesson): Command {
  lessons.set(command, lesson)
  const examples = lesson.examples.map(([line, does]) => `  # ${does}\n  thingwire ${line}`).join('\n\n')
  return command.addHelpText('after', () => {
    const wrapped = (text: string) => command.createHelp().boxWrap(text, process.stdout.columns || 100)
    const notes = (lesson.notes ?? []).map(note => `\n${wrapped(note)}\n`).join('')
    return `${notes}\nExamples:\n${examples}\n\n${wrapped(`Exit status: ${exitOf(lesson)}`)}`
  })
}

export function lessonOf(command: Command): Lesson | undefined {
  return lessons.get(command)
}

export function exitOf({ exit = exitText }: Lesson): string {
  return exit
}
