import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const compressible = /\.(?:css|html|js|json|svg)$/
/** Bytes; a smaller file fits in the first segments anyway. */
const minimumSize = 1024

/** Writes `.br` and `.gz` beside every text file of the build, so that the server has nothing to compress. */
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
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  const [brotli, gzipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  ])
  await Promise.all([writeFile(`${path}.br`, brotli), writeFile(`${path}.gz`, gzipped)])
}
