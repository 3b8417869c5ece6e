import { hasCode, isOutOfSpace } from './level-errors.ts'

/** One line for the operator: why a database cannot be opened. */
export function openError(error: unknown, location: string): Error {
  const cause = error instanceof Error ? error.cause : undefined
  const text = cause instanceof Error ? cause.message : String(error)
  const advice = adviceOn(cause)
  return new Error(`cannot open the store in ${location}: ${advice ?? text}`, { cause: error })
}

function adviceOn(cause: unknown): string | undefined {
  if (hasCode(cause, 'LEVEL_LOCKED')) {
    return 'another process uses it. Is a server already running on this directory? Stop it first'
  }
  return cause instanceof Error && isOutOfSpace(cause)
    ? `the disk is full (${cause.message}). Make room first; it needs 32 MiB at most`
    : undefined
}
