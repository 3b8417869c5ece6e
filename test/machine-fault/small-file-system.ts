import { execFile } from 'node:child_process'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A file system of its own, of a size of its own. */
export interface SmallFileSystem {
  /** Where it is mounted. */
  readonly path: string
  /** Takes it away under whoever has files open, as `umount -l` does. */
  detach(): Promise<void>
  /** Mounts it again: an empty one if it is in memory, else the same. */
  attach(): Promise<void>
  /** Takes it away and removes it. */
  remove(): Promise<void>
}

/**
 * Mounts a small file system. Needs to be root and to be allowed to mount, as on a machine or in a container with
 * CAP_SYS_ADMIN.
 *
 * @param kind `tmpfs` is in memory; `ext4` is in a file, and needs e2fsprogs and a loop device
 * @throws Error that names the missing right
 */
export async function smallFileSystem(
  kind: 'tmpfs' | 'ext4',
  bytes: number,
  onEnd: (remove: () => Promise<void>) => void,
): Promise<SmallFileSystem> {
  const directory = await mkdtemp(join(tmpdir(), 'thingwire-disk-'))
  const [path, image] = [await mkdtemp(join(directory, 'mounted-')), join(directory, 'image')]
  const attach = async () => {
    if (kind === 'tmpfs') await mount('-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', path)
    else await mount('-o', 'loop', image, path)
  }
  const detach = async () => void (await run('umount', ['-l', path]))
  const remove = async () => {
    await detach().catch(() => {})
    await rm(directory, { recursive: true, force: true })
  }
  onEnd(remove)
  if (kind === 'ext4') {
    await writeFile(image, '')
    await truncate(image, bytes)
    await run('mkfs.ext4', ['-q', '-F', '-m', '0', image])
  }
  await attach()
  return { path, attach, detach, remove }
}

async function mount(...args: readonly string[]): Promise<void> {
  await run('mount', args).catch((error: Error) => {
    throw new Error(
      `a small file system cannot be mounted here: run the test as root, in a container with CAP_SYS_ADMIN (${error.message})`,
    )
  })
}
