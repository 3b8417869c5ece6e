import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Plugin } from 'vite'
import { packLand } from './src/map/packed-land.ts'

const suffix = '?url'

/** Puts the coastlines of world-atlas into the build as `packLand` has them. */
export function packCoastlines(): Plugin {
  return {
    name: 'pack-coastlines',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      if (!id.endsWith(suffix) || !/\/world-atlas\/land-[^/]+$/.test(id)) return undefined
      const file = id.slice(0, -suffix.length)
      const source = JSON.stringify(packLand(JSON.parse(await readFile(file, 'utf8'))))
      const asset = this.emitFile({ type: 'asset', name: basename(file), source })
      return `export default import.meta.ROLLUP_FILE_URL_${asset}`
    },
  }
}
