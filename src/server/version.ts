import { readFile } from 'node:fs/promises'

/** The directory of package.json and of the shipped files: two levels up, both in the source and in the bundle. */
export const packageRoot = new URL('../../', import.meta.url)

/** The version of this package, such as `0.1.0`. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('package.json', packageRoot), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
