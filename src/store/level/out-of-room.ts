/** Whether a call has failed because there is no room on the disk, or none that this process may take. */
export function isOutOfRoom(error: unknown): boolean {
  return error instanceof Error && /no space left|quota exceeded|file too large/i.test(error.message)
}
