import { prefixOf } from '../api/address.ts'

/** Contains the prefix, because servers under other prefixes of the host use the same storage. */
const name = `thingwire.credential${prefixOf()}`

/** The credential that is stored for this tab; if there is none, the credential that is stored on this device. */
export function keptCredential(): string | undefined {
  return sessionStorage.getItem(name) ?? localStorage.getItem(name) ?? undefined
}

/** @param keep `tab`: until the tab is closed; `device`: on this device, until `forgetCredential` */
export function keepCredential(credential: string, keep: 'tab' | 'device'): void {
  forgetCredential()
  const storage = keep === 'device' ? localStorage : sessionStorage
  storage.setItem(name, credential)
}

/** Stores a credential until the tab is closed. A credential that is stored on this device stays, for other tabs and for later. */
export function keepForTab(credential: string): void {
  sessionStorage.setItem(name, credential)
}

export function forgetCredential(): void {
  sessionStorage.removeItem(name)
  localStorage.removeItem(name)
}

/** Forgets this credential only, so that a link with an invalid session does not sign the user out. */
export function forgetRefused(credential: string): void {
  for (const storage of [sessionStorage, localStorage]) {
    if (storage.getItem(name) === credential) storage.removeItem(name)
  }
}
