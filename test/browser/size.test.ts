import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** What `npm run build` makes of web/. */
const webDirectory = fileURLToPath(new URL('../../dist/web/', import.meta.url))

/** Bytes that all files but the finest coastline may have together. */
const maximumBytes = 500_000
/** Bytes of the finest coastline, which is asked for only when someone looks closely at a map. */
const maximumCoastBytes = 600_000

interface SentFile {
  readonly name: string
  /** What a browser is sent: with gzip, if the build did that. */
  readonly bytes: number
}

test('all files of the dashboard but the finest coastline are below 500 kB compressed, and that below 600 kB', async () => {
  const files = await sentFiles()
  expect(files.map(({ name }) => name)).toContain('index.html')
  expect(totalBytes(files.filter(file => !isFineCoast(file)))).toBeLessThan(maximumBytes)
  const coast = files.filter(isFineCoast)
  expect(coast).toHaveLength(1)
  expect(totalBytes(coast)).toBeLessThan(maximumCoastBytes)
})

/**
 * Every file that the dashboard could ask for, the largest first.
 *
 * @throws Error if it has not been built
 */
async function sentFiles(): Promise<readonly SentFile[]> {
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
function isFineCoast({ name }: SentFile): boolean {
  return /land-10m/.test(name)
}

function totalBytes(files: readonly SentFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
