import { hash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeDirectory } from '../../core/files/make-directory.ts'

/** How far a load has got. */
export interface LoadPosition {
  /** Number of batches that the server has acknowledged. */
  readonly batches: number
  /** Digest of all these batches. If a later run gets another digest, the file has changed. */
  readonly chain: string
  /** Number of records and lines that were refused and left out. */
  readonly refused: number
}

interface Kept extends LoadPosition {
  readonly version: 1
  /** For an import: the ids of the things on this server, by their ids in the export. */
  readonly things?: Readonly<Record<string, string>>
}

export const atBegin: LoadPosition = { batches: 0, chain: '', refused: 0 }

/**
 * How far a load has got, kept in a small file so that a load that was killed can continue. Losing this file only costs time, since
 * the server recognises records that are sent again. The file is in the user's state directory, since the directory of the loaded
 * file may not be writable.
 */
export class LoadState {
  readonly #file: string
  #kept: Kept = { version: 1, ...atBegin }

  /** @param load texts that identify this load: command, server, thing, path of the file */
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
      // The file is missing, or a crash has truncated it.
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
    // The file is replaced as a whole or not at all, even if this process is killed.
    await writeFile(`${this.#file}.new`, JSON.stringify(this.#kept))
    await rename(`${this.#file}.new`, this.#file)
  }

  async remove(): Promise<void> {
    await rm(this.#file, { force: true })
  }
}
