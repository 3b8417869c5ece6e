import { isToken } from '../core/token.ts'

/** Two outcomes have different exit statuses only if a script has to react to them differently (docs/reference/command-line.md). */
export const exitStatus = {
  /** The server refused the request, or the command failed. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  unreachable: 3,
  /** The credential is missing, unknown, or not allowed to do this. */
  credential: 4,
  /** Ctrl-C ended the command. */
  interrupted: 130,
} as const

/** An error that ends a command. Its message is for people, and says what to do next. */
export class CommandError extends Error {
  readonly status: number
  /** Further lines, such as one for each refused record. */
  readonly details: readonly string[]

  constructor(status: number, message: string, details: readonly string[] = []) {
    super(message)
    this.name = 'CommandError'
    this.status = status
    this.details = details
  }
}

/** A mistake on the command line. */
export function usageError(message: string): CommandError {
  return new CommandError(exitStatus.usage, message)
}

/** An error for a valid command that did not succeed. */
export function failure(message: string, details: readonly string[] = []): CommandError {
  return new CommandError(exitStatus.failed, message, details)
}

/**
 * Refuses a token on the command line, where other users could see it.
 *
 * @param instead completes the sentence "do not put a token on the command line: …"
 * @throws CommandError usage: the text is a token
 */
export function refuseToken(text: string, instead = 'set THINGWIRE_TOKEN'): void {
  if (isToken(text)) throw usageError(`do not put a token on the command line: ${instead}`)
}
