import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a directory and its missing parents. Node's `mkdir` with `recursive` would retry for ever if a parent is a dangling link
 * or, like `/proc`, forbids new directories.
 *
 * @param mode file mode of each new directory
 * @throws Error of the system if a directory cannot be made, or if the path exists and is not a directory
 */
export async function makeDirectory(path: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST' && (await isDirectory(path))) return
    if (code !== 'ENOENT' || (await isDirectory(dirname(path)))) throw error
    await makeDirectory(dirname(path), mode)
    await makeDirectory(path, mode)
  }
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}
