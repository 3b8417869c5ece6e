import { ThingwireError } from '../../../errors.ts'

/** Whether a call has failed because there is no space on the disk, or none that this process may take. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error && /no space left|quota exceeded|file too large/i.test(error.message)
}

/** Whether an error has a code that begins so. */
export function hasCode(error: unknown, start: string): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith(start)
}

/** Whether the same call may succeed later; otherwise an entry that it read is damaged. */
export function isPassing(error: unknown): boolean {
  return error instanceof ThingwireError || hasCode(error, 'LEVEL_')
}
