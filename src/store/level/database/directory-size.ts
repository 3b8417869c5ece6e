import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { reserveName } from './reserve.ts'

/** Total size in bytes of the files of a store, without the reserve and without files that are removed meanwhile. */
export async function bytesOfStore(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter(name => name !== reserveName)
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
