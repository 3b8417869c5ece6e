const name = 'thingwire.credential'

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

export function forgetCredential(): void {
  sessionStorage.removeItem(name)
  localStorage.removeItem(name)
}
