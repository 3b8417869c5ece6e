import { open, rename, rm, stat } from 'node:fs/promises'
import { failure, usageError } from '../exit.ts'

/**
 * What cannot be replaced by a file. Before anything is asked of a server: else it would be seen when everything has come over.
 *
 * @throws CommandError usage
 */
export async function refuseNoFile(file: string): Promise<void> {
  const whole = 'the file appears only when it is complete'
  if (file === '-') throw usageError(`- is no name of a file, and stdout cannot be taken back: ${whole}`)
  const found = await stat(file).catch(() => undefined)
  if (found?.isDirectory()) throw usageError(`${file} is a directory: give the name of a file`)
  if (found && !found.isFile()) throw usageError(`${file} is a pipe or a device, and no file: ${whole}`)
}

/**
 * Writes a file that is there only when it is whole, readable by its owner alone.
 *
 * @param fill is given what appends to it
 * @throws CommandError failed if it cannot be made, and what `fill` throws; an older file of the name then stays
 */
export async function writeWhole<Result>(
  file: string,
  fill: (append: (part: string | Uint8Array) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  // Two commands may write one file at a time.
  const incomplete = `${file}.${process.pid}.incomplete`
  const handle = await open(incomplete, 'w', 0o600).catch((error: Error) => {
    throw failure(`cannot write ${incomplete}: ${error.message}`)
  })
  try {
    const result = await fill(async part => void (await handle.appendFile(part)))
    await handle.sync()
    await handle.close()
    await rename(incomplete, file)
    return result
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(incomplete, { force: true })
    throw error
  }
}
