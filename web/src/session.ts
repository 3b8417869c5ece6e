import { type ReadonlySignal, signal } from '@preact/signals'
import { ApiError, createApi } from './api/http.ts'
import { fetchPrincipal } from './api/principal.ts'
import { forgetCredential, keepCredential, keptCredential } from './kept-credential.ts'
import { connectLive } from './live/connection.ts'
import type { SignedIn } from './signed-in.ts'
import { forgetThingTokens } from './thing-tokens.ts'

export type Session =
  | { readonly kind: 'signed out'; readonly problem?: ApiError; readonly hasEnded: boolean }
  | { readonly kind: 'signing in' }
  | { readonly kind: 'signed in'; readonly signedIn: SignedIn }

/** What can be sent in a header; no credential is anything else. */
const headerText = /^[ -~]+$/

const current = signal<Session>({ kind: 'signed out', hasEnded: false })

/** Who is signed in, if anybody. */
export const session: ReadonlySignal<Session> = current

/** Signs in with the credential that this browser was told to keep, if there is one. */
export async function resume(): Promise<void> {
  const kept = keptCredential()
  if (kept === undefined) return
  await signIn(kept)
}

/**
 * Signs in. What is refused is shown by `session`; a credential that was kept is forgotten only if the server does not
 * know it, so that a server that is away does not sign anybody out.
 *
 * @param keep for how long: until the tab is closed, or on this device; undefined leaves it as it is
 */
export async function signIn(credential: string, keep?: 'tab' | 'device'): Promise<void> {
  if (!headerText.test(credential)) {
    const problem = new ApiError({ status: 401, reason: 'invalid_session', message: 'not a credential' })
    current.value = { kind: 'signed out', problem, hasEnded: false }
    return
  }
  current.value = { kind: 'signing in' }
  const api = createApi(credential, () => void endIfRefused(credential))
  // At once, and not when it is known who it is: the first value is on its way while the rest of the page loads.
  const live = connectLive(credential, () => void endIfRefused(credential))
  try {
    const principal = await fetchPrincipal(createApi(credential))
    if (keep) keepCredential(credential, keep)
    current.value = { kind: 'signed in', signedIn: { credential, principal, api, live } }
  } catch (error) {
    live.close()
    if (isRefused(error)) forgetCredential()
    current.value = {
      kind: 'signed out',
      hasEnded: false,
      ...(error instanceof ApiError ? { problem: error } : {}),
    }
  }
}

export function signOut(): void {
  end(false)
}

let isAsking = false

/** The credential may have ended: asks, once for all who are in doubt, and returns to the sign-in if so. */
async function endIfRefused(credential: string): Promise<void> {
  if (isAsking || !isSignedInWith(credential)) return
  isAsking = true
  try {
    await fetchPrincipal(createApi(credential))
  } catch (error) {
    if (isRefused(error) && isSignedInWith(credential)) end(true)
  } finally {
    isAsking = false
  }
}

function isSignedInWith(credential: string): boolean {
  return current.value.kind === 'signed in' && current.value.signedIn.credential === credential
}

function end(hasEnded: boolean): void {
  if (current.value.kind === 'signed in') current.value.signedIn.live.close()
  forgetCredential()
  forgetThingTokens()
  current.value = { kind: 'signed out', hasEnded }
}

function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}
