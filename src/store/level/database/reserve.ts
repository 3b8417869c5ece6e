import { randomFillSync } from 'node:crypto'
import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isOutOfSpace } from './level-errors.ts'

/** A file beside those of LevelDB, which ignores unknown files. */
export const reserveName = 'RESERVE'
const pieceBytes = 1024 * 1024

/** A file that holds disk space back. */
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
   * Fills the file with random bytes: a sparse file, or one that the file system compresses, takes no space.
   *
   * @param isWanted asked between pieces
   * @returns `failed` for any other reason, also if the file is not wanted any more; the file exists only after `made`
   */
  async make(bytes: number, isWanted: () => boolean): Promise<'made' | 'no space' | 'failed'> {
    try {
      const file = await open(this.#file, 'w', 0o600)
      try {
        const piece = randomFillSync(Buffer.alloc(pieceBytes))
        for (let left = bytes; left > 0; left -= piece.length) {
          if (!isWanted()) throw new Error('not wanted any more')
          await file.writeFile(piece.subarray(0, left))
          // Piece by piece: some file systems would otherwise write all of it with the next fsync of another file.
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
