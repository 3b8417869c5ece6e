import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a directory and its missing parents. Node's own `recursive` never returns if a parent forbids new directories, such as
 * `/proc`, or is a dangling link: it makes the directory above again and again.
 *
 * @param mode of each new directory
 * @throws Error of the system: a directory cannot be made, or the path is something else
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
