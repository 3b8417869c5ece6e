import { hash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeDirectory } from '../../core/files/make-directory.ts'

/** How far a load has come. */
export interface LoadPosition {
  /** Batches that the server has acknowledged. */
  readonly batches: number
  /** Digest of all of them: says whether the file is still the one it was. */
  readonly chain: string
  /** Records and lines that were refused and left out. */
  readonly refused: number
}

interface Kept extends LoadPosition {
  readonly version: 1
  /** Things of an import by the id they had where they were exported. */
  readonly things?: Readonly<Record<string, string>>
}

export const atBegin: LoadPosition = { batches: 0, chain: '', refused: 0 }

/**
 * Where a load has come to, kept in a small file of the user's, so that a load that was killed goes on there. Losing it
 * costs time, not exactness: what is sent again is known to the server. Not beside the loaded file: its place may not be
 * writable.
 */
export class LoadState {
  readonly #file: string
  #kept: Kept = { version: 1, ...atBegin }

  /** @param load what distinguishes it from other loads: server, thing, path of the file */
  constructor(load: readonly string[]) {
    const home = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
    const name = hash('sha256', JSON.stringify(load)).slice(0, 32)
    this.#file = join(home, 'thingwire', `${name}.json`)
  }

  async read(): Promise<void> {
    const text = await readFile(this.#file, 'utf8').catch(() => '')
    try {
      const kept = JSON.parse(text) as Kept
      if (kept.version === 1) this.#kept = kept
    } catch {
      // None, or cut off by a crash.
    }
  }

  get position(): LoadPosition {
    return this.#kept
  }

  get things(): Readonly<Record<string, string>> {
    return this.#kept.things ?? {}
  }

  /** @throws Error if the file cannot be written */
  async keep(change: Partial<Omit<Kept, 'version'>>): Promise<void> {
    this.#kept = { ...this.#kept, ...change }
    await makeDirectory(dirname(this.#file), 0o700)
    // Whole or not at all, also if this process is killed.
    await writeFile(`${this.#file}.new`, JSON.stringify(this.#kept))
    await rename(`${this.#file}.new`, this.#file)
  }

  async remove(): Promise<void> {
    await rm(this.#file, { force: true })
  }
}
