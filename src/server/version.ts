import { readFile } from 'node:fs/promises'
import { packageRoot } from './package-root.ts'

/** The version of this package, such as `0.1.0`. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('package.json', packageRoot), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
