import { ThingwireError } from '../../../errors.ts'

/** Whether a call has failed for lack of disk space, or because of a disk quota or file size limit. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error && /no space left|quota exceeded|file too large/i.test(error.message)
}

export function hasCode(error: unknown, start: string): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith(start)
}

/** Whether a call that failed with this error may succeed later. Otherwise the call has read a damaged entry. */
export function isPassing(error: unknown): boolean {
  return error instanceof ThingwireError || hasCode(error, 'LEVEL_')
}

/** An error with one line for the operator that says why a database cannot be opened. */
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
