import { readFileSync } from 'node:fs'
import type { Redactor } from '../core/refusals/redactor.ts'

export interface Target {
  /** URL of the central server, for example `mqtts://central:8883` or `wss://central/mqtt`. */
  readonly url: string
  /** Certificates to trust instead of those of the system, PEM. */
  readonly ca?: Buffer
  /** Redacts texts from the central server, which may repeat a credential. */
  readonly redactor: Redactor
  /** Whether this server, not the central server, issued the token. Absent if the store is not open. */
  readonly isOwnToken?: (token: string) => Promise<boolean>
  /** Ends connections to the target, also while they are being opened. */
  readonly stop?: AbortSignal
}

/** Completes the sentence "must be …". */
export const targetRule =
  '`mqtt://`, `mqtts://`, `ws://` or `wss://` with host, and port and path where they differ from the defaults; no credential in it'

const protocols = ['mqtt:', 'mqtts:', 'ws:', 'wss:']

/** @returns undefined if the text breaks `targetRule` */
export function parseTargetUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const { protocol, hostname, username, password, pathname, search, hash } = url
  if (!protocols.includes(protocol) || hostname === '') return undefined
  if (username !== '' || password !== '' || search !== '' || hash !== '') return undefined
  const isWebSocket = protocol.startsWith('ws')
  if (!isWebSocket && pathname !== '' && pathname !== '/') return undefined
  // The path of a server is `/mqtt`, unless a proxy in front of it uses another path (contract §7.9).
  if (isWebSocket && pathname === '/') url.pathname = '/mqtt'
  return url.href.replace(/\/$/, '')
}

/** @throws Error with one line for the operator */
export function readTarget(text: string, caFile: string | undefined, redactor: Redactor): Target {
  const url = parseTargetUrl(text)
  if (url === undefined) throw new Error(`forward must be ${targetRule}`)
  if (caFile === undefined) return { url, redactor }
  try {
    return { url, ca: readFileSync(caFile), redactor }
  } catch (error) {
    throw new Error(`cannot read the certificates ${caFile}: ${(error as Error).message}`)
  }
}
