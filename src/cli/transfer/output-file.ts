import { open, rename, rm, stat } from 'node:fs/promises'
import { failure, usageError } from '../exit.ts'

/**
 * Refuses an output that a new file cannot replace, for example a pipe. Call this before the first request.
 *
 * @throws CommandError usage
 */
export async function refuseNoFile(file: string): Promise<void> {
  const whole = 'the file appears only when it is complete'
  if (file === '-') throw usageError(`- is not a file name, and output to stdout cannot be undone: ${whole}`)
  const found = await stat(file).catch(() => undefined)
  if (found?.isDirectory()) throw usageError(`${file} is a directory: give the name of a file`)
  if (found && !found.isFile()) throw usageError(`${file} is a pipe or a device, not a file: ${whole}`)
}

/**
 * Writes a file that appears only when it is complete, and that only its owner can read.
 *
 * @param fill writes the content with the function `append`
 * @throws CommandError failed if the file cannot be made; errors of `fill`. In both cases an existing file is kept
 */
export async function writeWhole<Result>(
  file: string,
  fill: (append: (part: string | Uint8Array) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  // The process id is in the name, since two commands may write the same file at the same time.
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
