import './top-bar.css'
import type { Principal } from './api/principal.ts'
import { route } from './route.ts'
import { signOut } from './session/session.ts'
import { Moment } from './time/moment.tsx'

/** The product name, links to the principal's pages, the principal and the sign-out button. */
export function TopBar({ principal }: { readonly principal: Principal }) {
  const { page } = route.value
  return (
    <header class="top-bar">
      <a class="brand" href="#/">
        Thingwire
      </a>
      <nav aria-label="Pages">
        {principal.kind !== 'thing' && (
          <a href="#/" aria-current={page === 'things' ? 'page' : undefined}>
            Things
          </a>
        )}
        {principal.kind === 'admin' && (
          <a href="#/operator" aria-current={page === 'operator' ? 'page' : undefined}>
            Operator
          </a>
        )}
      </nav>
      <span class="who">
        <Who principal={principal} />
      </span>
      <button type="button" class="quiet" onClick={signOut}>
        Sign out
      </button>
    </header>
  )
}

function Who({ principal }: { readonly principal: Principal }) {
  if (principal.kind === 'admin') return 'Admin key'
  if (principal.kind === 'thing') return <>Thing {principal.name || principal.thingId}</>
  return (
    <>
      {principal.access === 'read' ? 'Session, reading only' : 'Session'}, until{' '}
      <Moment milliseconds={Date.parse(principal.expiresAt)} />
    </>
  )
}
