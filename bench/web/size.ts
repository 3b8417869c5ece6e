import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What `npm run build` makes of web/. */
export const webDirectory = fileURLToPath(new URL('../../dist/web/', import.meta.url))

/** Bytes that all files but the finest coastline may have together. */
export const maximumBytes = 500_000
/** Bytes of the finest coastline, which is asked for only when someone looks closely at a map. */
export const maximumCoastBytes = 800_000

export interface SentFile {
  readonly name: string
  /** What a browser is sent over plain HTTP, for which it does not take Brotli: with gzip, if the build did that. */
  readonly bytes: number
}

/**
 * Every file that the dashboard could ask for, the largest first.
 *
 * @throws Error if it has not been built
 */
export async function sentFiles(): Promise<readonly SentFile[]> {
  const names = await readdir(webDirectory, { recursive: true }).catch(() => {
    throw new Error('The dashboard is not built: run `npm run build` first')
  })
  const files: SentFile[] = []
  for (const name of names) {
    // What has no extension is a directory.
    if (['', '.br', '.gz'].includes(extname(name))) continue
    const form = names.includes(`${name}.gz`) ? `${name}.gz` : name
    files.push({ name, bytes: (await stat(join(webDirectory, form))).size })
  }
  return files.sort((one, other) => other.bytes - one.bytes)
}

/** Whether a file is the finest coastline. */
export function isFineCoast({ name }: SentFile): boolean {
  return /land-10m/.test(name)
}

export function totalBytes(files: readonly SentFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
