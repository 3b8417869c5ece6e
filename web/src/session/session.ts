import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { ApiError, createApi } from '../api/http.ts'
import { fetchPrincipal, type Principal } from '../api/principal.ts'
import { connectLive, type LiveConnection } from '../live/connection.ts'
import {
  forgetCredential,
  forgetRefused,
  keepCredential,
  keepForTab,
  keptCredential,
} from './kept-credential.ts'
import { dropLinkSession, linkSession } from './link-session.ts'
import type { SignedIn } from './signed-in.ts'
import { forgetThingTokens } from './thing-tokens.ts'

export type Session =
  | { readonly kind: 'signed out'; readonly problem?: ApiError; readonly hasEnded: boolean }
  | { readonly kind: 'signing in' }
  | { readonly kind: 'signed in'; readonly signedIn: SignedIn }

/** Text that can be sent in a header. Any credential has this form. */
const headerText = /^[ -~]+$/
/** A session token is 32 random bytes as base64url. */
const sessionForm = /^[\w-]{43}$/

/** Milliseconds. */
const retryDelay = 5_000

const current = signal<Session>({ kind: 'signed out', hasEnded: false })
const problemOfLink = signal<string | undefined>(undefined)

/** The state of the sign-in. */
export const session: ReadonlySignal<Session> = current

/** Why the last link could not be used to sign in. Cleared on the next sign-in. */
export const linkProblem: ReadonlySignal<string | undefined> = problemOfLink

/**
 * Signs in with the stored credential, if there is one. A link signs in automatically only if no credential is stored. Otherwise
 * the user is asked, so that a link from someone else does not replace the session unnoticed.
 */
export async function resume(): Promise<void> {
  const kept = keptCredential()
  if (kept !== undefined) await signIn(kept)
  const other = keptCredential()
  // The credential of the tab was refused, but another credential is stored on this device.
  if (other !== undefined && other !== kept) await signIn(other)
  effect(() => {
    const isSignedOut = current.value.kind === 'signed out'
    if (linkSession.value !== undefined && isSignedOut && keptCredential() === undefined) void useLink()
  })
  setInterval(tryAgain, retryDelay)
}

/** If the server did not answer when the page was opened, signs in again with the stored credential. */
function tryAgain(): void {
  const now = current.peek()
  const kept = keptCredential()
  if (now.kind === 'signed out' && now.problem?.status === 0 && kept !== undefined) void signIn(kept)
}

/**
 * Signs this tab in with the session of the link. If that fails, the current session stays, and `linkProblem` contains the reason.
 * The credential that is stored on this device is not changed.
 */
export async function useLink(): Promise<void> {
  const credential = linkSession.peek()
  if (credential === undefined) return
  dropLinkSession()
  problemOfLink.value = undefined
  if (current.peek().kind === 'signed out') current.value = { kind: 'signing in' }
  const before = current.peek()
  try {
    const principal = await sessionOfLink(credential)
    // The user may have signed out in the meantime.
    if (current.peek() !== before) return
    close()
    keepForTab(credential)
    enter(credential, principal)
  } catch (error) {
    if (current.peek() !== before) return
    problemOfLink.value = error instanceof ApiError ? linkProblemText(error) : String(error)
    if (before.kind === 'signing in') current.value = { kind: 'signed out', hasEnded: false }
  }
}

/** Refuses the session of the link. The current session stays. */
export function turnDownLink(): void {
  dropLinkSession()
  problemOfLink.value = undefined
}

/** @throws ApiError 401 also for a token or an admin key: they do not expire, so they must not be used in links */
async function sessionOfLink(credential: string): Promise<Principal> {
  const principal = sessionForm.test(credential) ? await fetchPrincipal(createApi(credential)) : undefined
  if (principal?.kind === 'session') return principal
  throw new ApiError({ status: 401, reason: 'invalid_session', message: 'no session' })
}

function linkProblemText({ status, message }: ApiError): string {
  if (status !== 401) return `The link could not be tried: ${message} Then open the link again.`
  return 'This link does not sign in. Its session was revoked or has expired, or a part of the link is missing.'
}

/**
 * Signs in. A refusal is shown in `session`. A stored credential is forgotten only if the server does not know it, so that an
 * unavailable server does not sign the user out.
 *
 * @param keep where to store the credential: for the tab or on the device; undefined: stored credentials do not change
 */
export async function signIn(credential: string, keep?: 'tab' | 'device'): Promise<void> {
  problemOfLink.value = undefined
  if (!headerText.test(credential)) {
    const problem = new ApiError({ status: 401, reason: 'invalid_session', message: 'not a credential' })
    current.value = { kind: 'signed out', problem, hasEnded: false }
    return
  }
  current.value = { kind: 'signing in' }
  // Connects before the principal is known, so that the first value arrives while the rest of the page loads.
  const live = connect(credential)
  try {
    const principal = await fetchPrincipal(createApi(credential))
    if (keep) keepCredential(credential, keep)
    enter(credential, principal, live)
  } catch (error) {
    live.close()
    if (isRefused(error)) forgetRefused(credential)
    current.value = {
      kind: 'signed out',
      hasEnded: false,
      ...(error instanceof ApiError ? { problem: error } : {}),
    }
  }
}

function connect(credential: string): LiveConnection {
  return connectLive(credential, () => void endIfRefused(credential))
}

function enter(credential: string, principal: Principal, live = connect(credential)): void {
  const api = createApi(credential, () => void endIfRefused(credential))
  current.value = { kind: 'signed in', signedIn: { credential, principal, api, live } }
}

/** Signs out, and forgets the credential in this tab and on this device. */
export function signOut(): void {
  forgetCredential()
  end(false)
}

let isAsking = false

/** Asks the server whether the credential is still valid. If not, returns to the sign-in page. One request at a time. */
async function endIfRefused(credential: string): Promise<void> {
  if (isAsking || !isSignedInWith(credential)) return
  isAsking = true
  try {
    await fetchPrincipal(createApi(credential))
  } catch (error) {
    if (isRefused(error) && isSignedInWith(credential)) {
      forgetRefused(credential)
      end(true)
    }
  } finally {
    isAsking = false
  }
}

function isSignedInWith(credential: string): boolean {
  return current.value.kind === 'signed in' && current.value.signedIn.credential === credential
}

function end(hasEnded: boolean): void {
  close()
  turnDownLink()
  current.value = { kind: 'signed out', hasEnded }
}

function close(): void {
  if (current.value.kind === 'signed in') current.value.signedIn.live.close()
  forgetThingTokens()
}

function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}
