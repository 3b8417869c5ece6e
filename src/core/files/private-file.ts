import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Whether users other than the owner may use a file; false on Windows, where modes do not show this. @param mode from `stat` */
export function isOpenToOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0
}

/**
 * Writes a file with mode 0600, durably and atomically.
 *
 * @param place moves the temporary file to its final name. Default: `rename`, which replaces an existing file
 * @throws Error of the system
 */
export async function writePrivate(
  file: string,
  text: string,
  place: (draft: string, file: string) => Promise<void> = rename,
): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await place(draft, file)
  } finally {
    await rm(draft, { force: true })
    await syncDirectory(dirname(file))
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // On Windows, a directory cannot be synced, and need not be: NTFS records changes of file names in a journal.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
