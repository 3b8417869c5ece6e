import { type ReadonlySignal, signal } from '@preact/signals'
import { prefixOf } from '../api/address.ts'

/** As in `https://host/#session=<token>`. Browsers do not send the part after `#` to a server. */
const prefix = '#session='

const current = signal(taken())
addEventListener('hashchange', () => {
  const credential = taken()
  if (credential !== undefined) current.value = credential
})

/** The session token of the link that was opened in this tab, until the user accepts or refuses it. */
export const linkSession: ReadonlySignal<string | undefined> = current

/** The link that opens this page with a session, at the address that the operator uses for the page. */
export function linkOf(sessionToken: string): string {
  return `${location.origin}${prefixOf()}/${prefix}${sessionToken}`
}

export function dropLinkSession(): void {
  current.value = undefined
}

/** Removes the token from the address bar and from the tab's history, so that a copied address or Back does not contain it. */
function taken(): string | undefined {
  if (!location.hash.startsWith(prefix)) return undefined
  const credential = location.hash.slice(prefix.length)
  history.replaceState(history.state, '', '#/')
  return credential
}
