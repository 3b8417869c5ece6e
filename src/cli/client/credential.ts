import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { basename, join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { isOpenToOthers } from '../../core/files/private-file.ts'
import { CommandError, exitStatus, usageError } from '../exit.ts'

/** Whom a command is for: the operator, or whoever has any credential for the thing. */
export type CredentialKind = 'operator' | 'any'

export interface CredentialSources {
  /** Of the server: the admin key of this machine goes to this machine alone. */
  readonly url: URL
  /** A path, or `-` for stdin. */
  readonly credentialFile: string | undefined
  readonly dataDir: string
  readonly environment: NodeJS.ProcessEnv
}

export interface Credential {
  readonly text: string
  /** The file or variable that it is from: who is refused has to know which to mend. */
  readonly source: string
  /** What to do where the server does not know it. */
  readonly ifUnknown: string
}

/** As `jq` without -r and files of variables have it. */
const quotedToken = /^(["'])([\w-]{43})\1$/
const credentialForm = /^[\x21-\x7e]+$/

/**
 * The credential of a command: `--credential-file`, THINGWIRE_TOKEN (not for what only the operator may do),
 * THINGWIRE_ADMIN_KEY, the admin key in the data directory of a server on this machine.
 *
 * @throws CommandError credential, without any part of it
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

/** undefined where there is none; the server refuses one that others can read, too. */
async function ownFile(file: string): Promise<string | undefined> {
  try {
    if (isOpenToOthers((await stat(file)).mode))
      throw new CommandError(exitStatus.credential, `${file} is open to other users: run chmod 600 ${file}`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    if (error instanceof CommandError) throw error
    throw new CommandError(exitStatus.credential, `cannot read ${file}: ${(error as Error).message}`)
  }
}

function checkedText(text: string, source: string): string {
  const credential = text.trim().replace(quotedToken, '$2')
  const isDocument = /^\{\s*".*\}$/s.test(credential)
  if (credentialForm.test(credential) && !isDocument) return credential
  const fault = isDocument
    ? 'is a JSON document: keep its token alone, as jq -r .thingToken gives it'
    : credential === ''
      ? 'is empty'
      : 'contains a character that no credential has: a token is 43 letters, digits, - and _'
  throw new CommandError(exitStatus.credential, `the credential in ${source} ${fault}`)
}

/** With an operator's key that the server does not know, the commands of the operator fail, too. */
function adviceIfUnknown(source: string, url: URL): string {
  if (basename(source) === 'admin-key')
    return `${source} may be of another server: give --data-dir, with the data directory of the server at ${url.origin}, or --url, with the address of the server of this key`
  if (source === 'THINGWIRE_ADMIN_KEY')
    return `THINGWIRE_ADMIN_KEY may be of another server: set it to the key of the server at ${url.origin}, which is in admin-key in its data directory, or give --url`
  return 'it may be left over from another server; the operator creates one: thingwire tokens add <thing>, or thingwire sessions create <thing>'
}

function isThisMachine({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function missing(kind: CredentialKind, url: URL, file: string): string {
  const ways = kind === 'operator' ? 'the admin key' : "a thing's token, a session or the admin key"
  const variable = kind === 'operator' ? 'THINGWIRE_ADMIN_KEY' : 'THINGWIRE_TOKEN or THINGWIRE_ADMIN_KEY'
  const own = isThisMachine(url)
    ? `, or name the data directory of the server with --data-dir (there is no admin key in ${file})`
    : ''
  return `the command needs a credential (${ways}): set ${variable}, or give --credential-file <file> (- is stdin)${own}`
}
