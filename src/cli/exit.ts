import { isToken } from '../core/token.ts'

/** Exit statuses of the command, by what a script has to do next (docs/reference/command-line.md). */
export const exitStatus = {
  /** Refused by the server, or failed. */
  failed: 1,
  /** The command line itself. */
  usage: 2,
  unreachable: 3,
  /** Missing, unknown, or not allowed to do this. */
  credential: 4,
  /** Ctrl-C. */
  interrupted: 130,
} as const

/** What ends a command: its message is for a person, and names what to do next. */
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

/** What was asked for and did not succeed. */
export function failure(message: string, details: readonly string[] = []): CommandError {
  return new CommandError(exitStatus.failed, message, details)
}

/**
 * Processes of other users see a command line.
 *
 * @param instead completes the sentence "do not put a token on the command line: …"
 * @throws CommandError usage: the text is a token
 */
export function refuseToken(text: string, instead = 'set THINGWIRE_TOKEN'): void {
  if (isToken(text)) throw usageError(`do not put a token on the command line: ${instead}`)
}
