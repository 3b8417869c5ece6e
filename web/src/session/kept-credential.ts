import { prefixOf } from '../api/address.ts'

/** Servers under other prefixes of the host share the storage. */
const name = `thingwire.credential${prefixOf()}`

/** The credential of this tab, or else of this device. */
export function keptCredential(): string | undefined {
  return sessionStorage.getItem(name) ?? localStorage.getItem(name) ?? undefined
}

/** @param keep until the tab is closed, or on this device until `forgetCredential` */
export function keepCredential(credential: string, keep: 'tab' | 'device'): void {
  forgetCredential()
  const storage = keep === 'device' ? localStorage : sessionStorage
  storage.setItem(name, credential)
}

/** Keeps it until the tab is closed. A credential that this device keeps stays, for other tabs and for later. */
export function keepForTab(credential: string): void {
  sessionStorage.setItem(name, credential)
}

export function forgetCredential(): void {
  sessionStorage.removeItem(name)
  localStorage.removeItem(name)
}

/** Forgets it wherever it is kept, and no other: a link with a bad session signs nobody out. */
export function forgetRefused(credential: string): void {
  for (const storage of [sessionStorage, localStorage]) {
    if (storage.getItem(name) === credential) storage.removeItem(name)
  }
}
