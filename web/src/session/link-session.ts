import { type ReadonlySignal, signal } from '@preact/signals'
import { prefixOf } from '../api/address.ts'

/** Of a link such as `https://host/#session=<token>`: browsers send no server what is behind `#`. */
const prefix = '#session='

const current = signal(taken())
addEventListener('hashchange', () => {
  const credential = taken()
  if (credential !== undefined) current.value = credential
})

/** What the link holds that this tab was opened with, or was led to, until it has been used or turned down. */
export const linkSession: ReadonlySignal<string | undefined> = current

/** The link that opens this page with a session: under the address that the operator reaches the page at. */
export function linkOf(sessionToken: string): string {
  return `${location.origin}${prefixOf()}/${prefix}${sessionToken}`
}

export function dropLinkSession(): void {
  current.value = undefined
}

/** Takes it out of the address bar and of the tab's history at once, so that neither a copied address nor Back has it. */
function taken(): string | undefined {
  if (!location.hash.startsWith(prefix)) return undefined
  const credential = location.hash.slice(prefix.length)
  history.replaceState(history.state, '', '#/')
  return credential
}
