import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Whether users other than the owner may use a file. @param mode of `stat`; on Windows it always looks open */
export function isOpenToOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0
}

/**
 * Writes a file of mode 0600 durably and atomically.
 *
 * @param place moves the draft to the name of the file. Default: `rename`, which replaces an older file
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
  // Windows cannot open a directory, but NTFS keeps a journal of names.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
