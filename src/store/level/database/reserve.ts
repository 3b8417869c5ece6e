import { randomFillSync } from 'node:crypto'
import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isOutOfSpace } from './level-errors.ts'

/** The file, beside those of LevelDB, which leaves alone what it does not know. */
export const reserveName = 'RESERVE'
const pieceBytes = 1024 * 1024

/** Space on the disk that is held back by a file that takes it. */
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
   * Takes the space. Of random bytes, since some file systems compress; a file that is only said to be so long takes none.
   *
   * @param isWanted asked between pieces
   * @returns `failed` if it cannot be made for another reason, or was not wanted any more; it is there if it was `made` alone
   */
  async make(bytes: number, isWanted: () => boolean): Promise<'made' | 'no space' | 'failed'> {
    try {
      const file = await open(this.#file, 'w', 0o600)
      try {
        const piece = randomFillSync(Buffer.alloc(pieceBytes))
        for (let left = bytes; left > 0; left -= piece.length) {
          if (!isWanted()) throw new Error('not wanted any more')
          await file.writeFile(piece.subarray(0, left))
          // By and by: some file systems would write all of it with the next fsync of another file.
          await file.datasync()
        }
      } finally {
        await file.close()
      }
      // It may have been given up meanwhile.
      return (await this.isThere(bytes)) ? 'made' : 'no space'
    } catch (error) {
      await this.giveUp()
      return isOutOfSpace(error) ? 'no space' : 'failed'
    }
  }

  /** Gives the space back. */
  async giveUp(): Promise<void> {
    // Where it cannot be removed there is no space to be had from it.
    await rm(this.#file, { force: true }).catch(() => {})
  }
}
