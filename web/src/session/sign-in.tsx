import './sign-in.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../api/http.ts'
import { formatDuration } from '../time/format.ts'
import { linkProblem, type Session, signIn } from './session.ts'

/** The sign-in page, the only page that needs no credential. */
export function SignIn({ session }: { readonly session: Exclude<Session, { kind: 'signed in' }> }) {
  const [credential, setCredential] = useState('')
  const [isKept, setIsKept] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  const isBusy = session.kind === 'signing in'

  function submit(event: Event): void {
    event.preventDefault()
    // Text that was copied from a terminal often ends with a line break.
    const text = credential.trim()
    if (text !== '' && !isBusy) void signIn(text, isKept ? 'device' : 'tab')
  }

  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <h1>Thingwire</h1>
        <label for="credential">Thing token, session or admin key</label>
        <input
          ref={input}
          id="credential"
          type="password"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          required
          aria-describedby="credential-help sign-in-problem"
          value={credential}
          onInput={event => setCredential(event.currentTarget.value)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={isKept}
            onChange={event => setIsKept(event.currentTarget.checked)}
          />
          Keep me signed in on this device
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
        <p id="sign-in-problem" role="alert" class="problem">
          {session.kind === 'signed out' && <Problem session={session} />}
        </p>
        <div id="credential-help" class="help">
          <p>
            <strong>Thing token:</strong> the server shows it once, when the thing is created or activates
            itself. It opens the page of that thing.
          </p>
          <p>
            <strong>Session:</strong> the operator makes one for you. The owner of a thing’s token can make
            one too.
          </p>
          <p>
            <strong>Admin key:</strong> the server names its file when it starts. The default is{' '}
            <code>data/admin-key</code>. The operator may have set it as <code>THINGWIRE_ADMIN_KEY</code>{' '}
            instead.
          </p>
        </div>
      </form>
    </main>
  )
}

function Problem({ session }: { readonly session: Extract<Session, { kind: 'signed out' }> }) {
  if (linkProblem.value !== undefined) return linkProblem.value
  if (session.hasEnded) return 'You were signed out. The credential was revoked or has expired.'
  return session.problem ? problemText(session.problem) : null
}

function problemText({ status, retryAfter, message }: ApiError): string {
  if (status === 401) return 'The server does not know this credential. Check that all of it was copied.'
  if (status === 429) {
    const wait = retryAfter === undefined ? 'a minute' : formatDuration(retryAfter * 1000)
    return `Too many failed attempts from your address. Wait ${wait}, then try again.`
  }
  return message
}
