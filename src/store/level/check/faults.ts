import { hash } from 'node:crypto'
import { nameInDocumentKey, prefix } from '../keys.ts'

export interface StoreFault {
  /** File name, or key (docs/reference/storage.md) with unprintable bytes as `\xhh`. For a document, only its kind and a digest. */
  readonly where: string
  readonly fault: string
}

/** Maximum number of faults that are reported. */
const most = 1_000

/** Counts all faults and keeps the first 1,000. */
export class Faults {
  readonly found: StoreFault[] = []
  count = 0

  add(...faults: readonly StoreFault[]): void {
    this.count += faults.length
    this.found.push(...faults.slice(0, most - this.found.length))
  }

  addOf(key: Buffer, fault: string): void {
    this.add({ where: shownKey(key), fault })
  }
}

/** A printable form of a key. Only the kind of a document is shown: its name may contain a secret (an unused activation code). */
function shownKey(key: Buffer): string {
  if (key.toString('latin1', 0, 1) === prefix.document) {
    const name = nameInDocumentKey(key)
    const [kind = '', ...rest] = name.split('/')
    const digest = hash('sha256', name).slice(0, 12)
    return `${prefix.document}${rest.length === 0 ? kind : `${kind}/… (SHA-256 of the name ${digest}…)`}`
  }
  return key
    .toString('latin1')
    .replace(/[^!-~]/g, byte => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
