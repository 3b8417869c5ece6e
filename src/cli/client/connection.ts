import type { Command } from 'commander'
import { usageError } from '../exit.ts'
import { type HelpText, withHelp } from '../help.ts'
import { ServerClient } from './client.ts'
import { type Credential, type CredentialKind, findCredential } from './credential.ts'
import { readPrincipal } from './named-thing.ts'

/** Options of every command that talks to a server. */
export interface ConnectionFlags {
  readonly url?: string
  readonly credentialFile?: string
  readonly dataDir?: string
  readonly json?: true
}

/** Adds a command with the options of `ConnectionFlags`. @param json what is printed with `--json` */
export function serverCommand(
  parent: Command,
  name: string,
  description: string,
  help: HelpText,
  json = 'one JSON document',
): Command {
  const command = parent
    .command(name)
    .description(description)
    .option(
      '--url <url>',
      'server; default THINGWIRE_URL, else this machine and port THINGWIRE_HTTP_PORT or 8080',
    )
    .option('--credential-file <file>', 'file with only the credential; - is stdin')
    .option('--data-dir <directory>', 'data directory of a server on this machine, for its admin key')
    .option('--json', json)
  return withHelp(command, help)
}

/** @throws CommandError usage or credential */
export async function connect(flags: ConnectionFlags, kind: CredentialKind): Promise<ServerClient> {
  const url = serverUrl(flags)
  return new ServerClient(url.origin + url.pathname.replace(/\/+$/, ''), await credentialFor(flags, kind))
}

export async function credentialFor(flags: ConnectionFlags, kind: CredentialKind): Promise<Credential> {
  return await findCredential(kind, {
    url: serverUrl(flags),
    credentialFile: flags.credentialFile,
    dataDir: flags.dataDir ?? (process.env.THINGWIRE_DATA_DIR || './data'),
    environment: process.env,
  })
}

/** Prints a note if a command for all things will only cover some: a forgotten credential may be set in the environment. */
export async function noteIfSome(client: ServerClient): Promise<void> {
  const principal = await readPrincipal(client)
  if (principal.kind === 'admin' || (principal.kind === 'session' && principal.things === '*')) return
  console.error(`thingwire: note: the credential (from ${client.source}) can see only some things, not all`)
}

/** @throws CommandError usage */
export function serverUrl({ url }: ConnectionFlags): URL {
  const own = `http://127.0.0.1:${process.env.THINGWIRE_HTTP_PORT || 8080}`
  const text = url ?? (process.env.THINGWIRE_URL || own)
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (parsed && /^https?:$/.test(parsed.protocol) && parsed.username === '') return parsed
  throw usageError('the URL of the server must have the form http://host:8080, without a credential in it')
}
