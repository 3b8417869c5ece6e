import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a directory and those above it that are missing. Node's own `recursive` never ends where there is a directory in which
 * none can be made, such as `/proc`, or a link that leads nowhere: it makes the one above again and again.
 *
 * @param mode of each that is made
 * @throws Error of the system: it cannot be made, or something else is there
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
