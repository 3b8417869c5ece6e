import { link, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { makeDirectory } from '../core/files/make-directory.ts'
import { isOpenToOthers, writePrivate } from '../core/files/private-file.ts'
import { text } from '../core/options/option-kinds.ts'
import { createToken } from '../core/token.ts'

/** Printable ASCII without spaces, which an Authorization header transmits unchanged. */
const adminKeyForm = /^[\x21-\x7e]{32,}$/

export const adminKeyRule = text(
  'at least 32 printable characters without spaces',
  z.string().regex(adminKeyForm),
)

export interface AdminKeyOptions {
  readonly configured?: string | undefined
  /** The key file to use if no key is configured. */
  readonly file: string
}

export interface AdminKey {
  readonly key: string
  /** Whether the key is new and still has to be stored with `keepAdminKey`. */
  readonly created: boolean
  /** The key file; absent if the key was configured. */
  readonly file?: string
}

/**
 * The operator's credential (contract §10): the configured key, else the key in `file`, else a new key that is in no file yet.
 *
 * @throws Error if the key is too short or has a forbidden character, or if its file is open to other users or cannot be read; the
 * message is one line for the operator, without the key
 */
export async function loadAdminKey({ configured, file }: AdminKeyOptions): Promise<AdminKey> {
  if (configured !== undefined) {
    assertAdminKey(configured, 'the configured admin key')
    return { key: configured, created: false }
  }
  const kept = await readKey(file)
  if (kept !== undefined) return { key: kept, created: false, file }
  return { key: createToken(), created: true, file }
}

/**
 * Writes a new key durably to its file, with mode 0600. Call this only after a successful start: only the start that creates a key
 * prints where it is, so nobody would learn of a key that a failed start has left behind.
 *
 * @throws Error with one line for the operator if the file cannot be written, or if another process has written it
 */
export async function keepAdminKey({ key, created, file }: AdminKey): Promise<void> {
  if (!created || file === undefined) return
  await makeDirectory(dirname(file))
  try {
    // Unlike a rename, a link never replaces another file.
    await writePrivate(file, `${key}\n`, link)
  } catch (error) {
    if (isCode(error, 'EEXIST')) throw new Error(`another process has just created an admin key in ${file}`)
    throw error
  }
}

/** @param subject how the message refers to the key @throws Error if the key is not a valid admin key */
export function assertAdminKey(key: string, subject: string): void {
  if (adminKeyForm.test(key)) return
  const fault = key.length < 32 ? `it has ${key.length}` : 'it has a space or another forbidden character'
  throw new Error(`${subject} must be at least 32 characters of printable ASCII without spaces, but ${fault}`)
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    assertPrivate(file, (await stat(file)).mode)
    const key = (await readFile(file, 'utf8')).trim()
    assertAdminKey(key, `the admin key in ${file}`)
    return key
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Refuses a key file that other users can read, as ssh does with private keys. */
function assertPrivate(file: string, mode: number): void {
  if (!isOpenToOthers(mode)) return
  throw new Error(
    `the admin key file ${file} is open to other users: run chmod 600 ${file}, or remove it to get a new key`,
  )
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
