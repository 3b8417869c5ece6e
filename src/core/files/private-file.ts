import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Whether others than its owner may use a file. @param mode of `stat`; Windows has none, and reports every file as open to all */
export function isOpenToOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o077) !== 0
}

/**
 * Writes a file of mode 0600, durably, whole or not at all.
 *
 * @param place puts the draft under the name of the file. Default: in place of an older one
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
  // Windows cannot open a directory; there the file system keeps its own journal of names.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
