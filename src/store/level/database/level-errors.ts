/** Whether a call has failed because there is no space on the disk, or none that this process may take. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error && /no space left|quota exceeded|file too large/i.test(error.message)
}

/** Whether an error has a code that begins so. */
export function hasCode(error: unknown, start: string): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith(start)
}
