import { randomFillSync } from 'node:crypto'
import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isOutOfSpace } from './level-errors.ts'

/** Name of the reserve file, which is in the directory of LevelDB. LevelDB ignores unknown files. */
export const reserveName = 'RESERVE'
const pieceBytes = 1024 * 1024

/** A file that reserves disk space. */
export class Reserve {
  readonly #file: string

  constructor(location: string) {
    this.#file = join(location, reserveName)
  }

  async isThere(bytes: number): Promise<boolean> {
    return await stat(this.#file).then(
      ({ size }) => size === bytes,
      () => false,
    )
  }

  /**
   * Creates the file with random bytes, since a sparse or compressed file would reserve too little space.
   *
   * @param isWanted called before each piece is written; if it returns false, the file is removed
   * @returns `failed` for any reason but lack of space, such as `isWanted` returning false; the file exists only after `made`
   */
  async make(bytes: number, isWanted: () => boolean): Promise<'made' | 'no space' | 'failed'> {
    try {
      const file = await open(this.#file, 'w', 0o600)
      try {
        const piece = randomFillSync(Buffer.alloc(pieceBytes))
        for (let left = bytes; left > 0; left -= piece.length) {
          if (!isWanted()) throw new Error('not wanted any more')
          await file.writeFile(piece.subarray(0, left))
          // Synced piece by piece: on some file systems, an fsync of another file would otherwise wait for the whole file.
          await file.datasync()
        }
      } finally {
        await file.close()
      }
      // `giveUp` may have been called meanwhile.
      return (await this.isThere(bytes)) ? 'made' : 'no space'
    } catch (error) {
      await this.giveUp()
      return isOutOfSpace(error) ? 'no space' : 'failed'
    }
  }

  /** Frees the space, unless the file cannot be removed. */
  async giveUp(): Promise<void> {
    await rm(this.#file, { force: true }).catch(() => {})
  }
}
