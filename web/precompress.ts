import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const compressible = /^assets\/.*\.(?:css|js|json|svg)$/
/** Bytes; a smaller file fits in the first segments anyway. */
const minimumSize = 1024

/**
 * Writes `.gz` in the place of every text file with a hash in its name, so that the server has nothing to compress. No Brotli: browsers
 * take it over TLS alone, and the package would hold each file twice.
 */
export function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir }, bundle) {
      if (dir === undefined) return
      await Promise.all(
        Object.keys(bundle)
          .filter(file => compressible.test(file))
          .map(file => compressFile(join(dir, file))),
      )
    },
  }
}

async function compressFile(path: string): Promise<void> {
  const bytes = await readFile(path)
  if (bytes.length < minimumSize) return
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }))
  await rm(path)
}
