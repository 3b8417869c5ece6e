import { readFile } from 'node:fs/promises'

/** The version of this package, such as `0.1.0`. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
