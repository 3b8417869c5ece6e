import { useState } from 'preact/hooks'
import { listSessions, type NewSession, removeSession, type SessionSummary } from '../api/admin.ts'
import type { Api } from '../api/http.ts'
import { Problem } from '../controls/problem.tsx'
import { useAction } from '../controls/use-action.ts'
import { linkOf } from '../session/link-session.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { linkProblem } from '../thing/connect/host.ts'
import { useServerFacts } from '../thing/connect/server-facts.ts'
import { Moment } from '../time/moment.tsx'
import { Confirm } from './confirm.tsx'
import { Secret } from './secret.tsx'
import { SessionForm } from './session-form.tsx'
import { useList } from './use-list.ts'

/** Sessions, which are credentials for people, pages and apps. */
export function SessionsSection({ api, live }: Pick<SignedIn, 'api' | 'live'>) {
  const { loopback } = useServerFacts(api)
  const [secret, setSecret] = useState<NewSession>()
  const [more, setMore] = useState<readonly SessionSummary[]>([])
  const [next, setNext] = useState<string>()
  const first = useList(live, async () => {
    const page = await listSessions(api)
    setMore([])
    setNext(page.next)
    return page.sessions
  })
  const paging = useAction()
  const sessions = first.items && [...first.items, ...more]
  return (
    <section class="card" aria-labelledby="operator-sessions" aria-busy={!sessions && !first.problem}>
      <h2 id="operator-sessions">Sessions</h2>
      <p class="muted">
        A session is for a person, a page or an app. It covers some or all things, may read or also write, and
        expires. Give it out in place of a token.
      </p>
      {secret === undefined ? (
        <SessionForm
          api={api}
          onCreated={session => {
            setSecret(session)
            first.reload()
          }}
        />
      ) : (
        <Secret
          title={`Session ${secret.sessionId}`}
          text={secret.sessionToken}
          link={linkOf(secret.sessionToken)}
          linkProblem={linkProblem(location.hostname, loopback)}
          onDone={() => setSecret(undefined)}
        />
      )}
      <Problem text={first.problem ?? paging.problem} />
      {sessions?.length === 0 && <p class="muted">No sessions.</p>}
      <ul class="operator-list">
        {sessions?.map(session => (
          <SessionRow key={session.sessionId} api={api} session={session} onChange={first.reload} />
        ))}
      </ul>
      {next !== undefined && (
        <button
          type="button"
          disabled={paging.isBusy}
          onClick={() =>
            paging.run(async () => {
              const page = await listSessions(api, next)
              setMore(before => [...before, ...page.sessions])
              setNext(page.next)
            })
          }
        >
          Show more
        </button>
      )}
    </section>
  )
}

interface SessionRowProps {
  readonly api: Api
  readonly session: SessionSummary
  readonly onChange: () => void
}

function SessionRow({ api, session, onChange }: SessionRowProps) {
  const [isRevoking, setRevoking] = useState(false)
  const { sessionId, access, expiresAt, mintedBy } = session
  return (
    <li class="operator-row">
      <div class="operator-name">
        <code>{sessionId}</code>
        <span class="muted">
          {access === 'read' ? 'reads' : 'reads and writes'} {thingsText(session)}, until{' '}
          <Moment milliseconds={Date.parse(expiresAt)} />, made by the {mintedBy}
        </span>
      </div>
      <button
        type="button"
        class="danger"
        aria-label={`Revoke session ${sessionId}`}
        onClick={() => setRevoking(true)}
      >
        Revoke
      </button>
      {isRevoking && (
        <Confirm
          title="Revoke this session?"
          verb="Revoke"
          onClose={() => setRevoking(false)}
          onConfirm={async () => {
            await removeSession(api, sessionId)
            onChange()
          }}
        >
          <p>
            Everybody who uses session <code>{sessionId}</code> is disconnected at once. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </li>
  )
}

function thingsText({ things }: SessionSummary): string {
  if (things === '*') return 'all things'
  const [only] = things
  return things.length === 1 && only !== undefined ? `thing ${only}` : `${things.length} things`
}
