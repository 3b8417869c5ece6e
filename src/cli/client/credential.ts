import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { accessFault } from '../../core/files/access-fault.ts'
import { isOpenToOthers } from '../../core/files/private-file.ts'
import { CommandError, exitStatus, usageError } from '../exit.ts'

/** The kind of credential that a command needs: the operator's, or any credential for the thing. */
export type CredentialKind = 'operator' | 'any'

export interface CredentialSources {
  /** URL of the server. The admin key in `dataDir` is only sent to a server on this machine. */
  readonly url: URL
  /** Path of the credential file, or `-` for stdin. */
  readonly credentialFile: string | undefined
  readonly dataDir: string
  readonly environment: NodeJS.ProcessEnv
}

export interface Credential {
  readonly text: string
  /** The file or variable that the credential comes from, so that a refusal can say what to correct. */
  readonly source: string
  /** What to do if the server does not know the credential. */
  readonly ifUnknown: string
}

/** A token in quotes, as printed by `jq` without -r or copied from a `.env` file. */
const quotedToken = /^(["'])([\w-]{43})\1$/
const credentialForm = /^[\x21-\x7e]+$/

/**
 * Finds the credential of a command. The first of these is used: `--credential-file`, THINGWIRE_TOKEN (except for operator
 * commands), THINGWIRE_ADMIN_KEY, the admin key in the data directory of a server on this machine.
 *
 * @throws CommandError credential; the message contains no part of the credential
 */
export async function findCredential(kind: CredentialKind, sources: CredentialSources): Promise<Credential> {
  const { url, credentialFile, dataDir, environment } = sources
  const checked = (text: string, source: string): Credential => ({
    text: checkedText(text, source),
    source,
    ifUnknown: adviceIfUnknown(source, url),
  })
  if (credentialFile !== undefined) {
    const source = credentialFile === '-' ? 'stdin' : credentialFile
    return checked(await readCredential(credentialFile), source)
  }
  const token = environment.THINGWIRE_TOKEN
  if (kind === 'any' && token) return checked(token, 'THINGWIRE_TOKEN')
  const adminKey = environment.THINGWIRE_ADMIN_KEY
  if (adminKey) return checked(adminKey, 'THINGWIRE_ADMIN_KEY')
  const file = join(dataDir, 'admin-key')
  const kept = isThisMachine(url) ? await ownFile(file) : undefined
  if (kept !== undefined) return checked(kept, file)
  throw new CommandError(exitStatus.credential, missing(kind, url, file))
}

async function readCredential(file: string): Promise<string> {
  try {
    return file === '-' ? await readText(process.stdin) : await readFile(file, 'utf8')
  } catch (error) {
    throw usageError(`cannot read the credential file ${file}: ${(error as Error).message}`)
  }
}

/** Reads a key file; undefined if there is none. Like the server, refuses a key file that other users can read. */
async function ownFile(file: string): Promise<string | undefined> {
  try {
    if (isOpenToOthers((await stat(file)).mode))
      throw new CommandError(exitStatus.credential, `${file} is open to other users: run chmod 600 ${file}`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    if (error instanceof CommandError) throw error
    const fault = await accessFault([dirname(file), file])
    const advice = fault && `${fault}; or set THINGWIRE_ADMIN_KEY or THINGWIRE_TOKEN`
    throw new CommandError(
      exitStatus.credential,
      `cannot read ${file}: ${advice ?? (error as Error).message}`,
    )
  }
}

function checkedText(text: string, source: string): string {
  const credential = text.trim().replace(quotedToken, '$2')
  const isDocument = /^\{\s*".*\}$/s.test(credential)
  if (credentialForm.test(credential) && !isDocument) return credential
  const fault = isDocument
    ? 'is a JSON document: keep only its token, as jq -r .thingToken prints it'
    : credential === ''
      ? 'is empty'
      : 'contains a character that no credential has: a token is 43 letters, digits, - and _'
  throw new CommandError(exitStatus.credential, `the credential in ${source} ${fault}`)
}

/** Advice for an unknown credential. For an admin key, the advice names no operator commands: they would fail with the same key. */
function adviceIfUnknown(source: string, url: URL): string {
  if (basename(source) === 'admin-key')
    return `${source} may belong to another server: give --data-dir, with the data directory of the server at ${url.origin}, or --url, with the address of the server of this key`
  if (source === 'THINGWIRE_ADMIN_KEY')
    return `THINGWIRE_ADMIN_KEY may belong to another server: set it to the key of the server at ${url.origin}, which is in admin-key in its data directory, or give --url`
  return 'it may have expired (a session ends by itself), or be left over from another server; the operator creates one: thingwire tokens add <thing>, or thingwire sessions create <thing>'
}

function isThisMachine({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.'))) return true
  return Object.values(networkInterfaces()).some(each => each?.some(({ address }) => address === host))
}

function missing(kind: CredentialKind, url: URL, file: string): string {
  const ways = kind === 'operator' ? 'the admin key' : "a thing's token, a session or the admin key"
  const variable = kind === 'operator' ? 'THINGWIRE_ADMIN_KEY' : 'THINGWIRE_TOKEN or THINGWIRE_ADMIN_KEY'
  const own = isThisMachine(url)
    ? `, or name the data directory of the server with --data-dir (there is no admin key in ${file})`
    : ''
  return `the command needs a credential (${ways}): set ${variable}, or give --credential-file <file> (- is stdin)${own}`
}
