import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What `npm run build` makes of web/. */
export const webDirectory = fileURLToPath(new URL('../../dist/web/', import.meta.url))

/** Bytes that all files but the finest coastline may have together. */
export const maximumBytes = 500_000
/** Bytes of the finest coastline, which is asked for only when someone looks closely at a map. */
export const maximumCoastBytes = 600_000

export interface SentFile {
  readonly name: string
  /** What a browser is sent: with gzip, if the build did that. */
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
    if (extname(name) === '') continue
    files.push({ name: name.replace(/\.gz$/, ''), bytes: (await stat(join(webDirectory, name))).size })
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
