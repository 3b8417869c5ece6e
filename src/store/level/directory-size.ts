import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Bytes of the files in a directory, without those in directories below it. A file that goes meanwhile is left out. */
export async function bytesInDirectory(directory: string): Promise<number> {
  const names = await readdir(directory)
  const sizes = await Promise.all(
    names.map(name =>
      stat(join(directory, name)).then(
        file => (file.isFile() ? file.size : 0),
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
