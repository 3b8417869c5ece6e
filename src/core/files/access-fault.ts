import { access, constants, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Finds out why this process cannot read and write files, for example because the server was last run as root.
 *
 * @param files paths in the order in which they are checked; missing files are skipped
 * @returns a sentence with the owner and what to do; undefined if no file is refused
 */
export async function accessFault(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const refusal = await access(file, constants.R_OK | constants.W_OK).catch(
      (error: NodeJS.ErrnoException) => error,
    )
    if (refusal?.code !== 'EACCES' && refusal?.code !== 'EPERM') continue
    // In a container, a user often has no name.
    const user = process.getuid?.()
    // Without the permission to search the directory, only the owner of the directory is known.
    const [owned, owner] = await ownerOf(file).catch(() => ownerOf(dirname(file)))
    return `${owned} belongs to ${owner}, and user ${user} may not use it: run the command as its owner, or give it away: sudo chown -R ${user} ${files[0]}`
  }
  return undefined
}

async function ownerOf(file: string): Promise<[file: string, owner: string]> {
  const { uid } = await stat(file)
  return [file, uid === 0 ? 'root' : `user ${uid}`]
}
