/** What a process was asked to do by the one that started it. */
export interface Command {
  readonly name: string
  readonly argument?: unknown
}

export type Answer = { readonly value: unknown } | { readonly failed: string }

type Commands = Readonly<Record<string, (argument: never) => unknown>>

/**
 * Does what the process that started this one asks for. Whatever is thrown anywhere, in the callback of a socket too, is
 * told to it and ends this process.
 */
export function answerCommands(commands: Commands): void {
  process.on('message', ({ name, argument }: Command) => void carryOut(commands, name, argument as never))
  process.on('uncaughtException', error => {
    send({ failed: error.message }, () => process.exit(1))
  })
  process.once('disconnect', () => process.exit())
}

async function carryOut(commands: Commands, name: string, argument: never): Promise<void> {
  const command = commands[name]
  if (command === undefined) throw new Error(`there is no command ${name}`)
  send({ value: await command(argument) })
}

function send(answer: Answer, onSent = () => {}): void {
  process.send?.(answer, onSent)
}
