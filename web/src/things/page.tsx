import './page.css'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/http.ts'
import { fetchThings, type ThingsPage as Page, type ThingSummary } from '../api/things.ts'
import { lazily } from '../lazily.tsx'
import { usePageTitle } from '../page-title.ts'
import type { SignedIn } from '../signed-in.ts'
import { ThingsTable } from './table.tsx'

const ThingsMap = lazily(() => import('./things-map.tsx').then(({ ThingsMap }) => ThingsMap))

/** Each one shown is two subscriptions, here and on the map, of which a connection may have 100. */
const thingsPerPage = 45
/** Milliseconds without a key pressed. */
const searchDelay = 200

/** The things that the principal may see, as a list and on a map. */
export function ThingsPage({ signedIn }: { readonly signedIn: SignedIn }) {
  const [name, setName] = useState('')
  /** The cursors of the pages before, and of this one. */
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined])
  const [page, setPage] = useState<Page>()
  const [problem, setProblem] = useState<string>()
  const { api, live } = signedIn
  const connectedSince = live.state.value.kind === 'connected' ? live.state.value.since : 0

  // Once more after the connection was lost: what was missed meanwhile is seen in the list only.
  useEffect(() => {
    const abort = new AbortController()
    const timer = setTimeout(
      async () => {
        try {
          setPage(await fetchFilledPage(signedIn, name, cursors.at(-1), abort.signal))
          setProblem(undefined)
        } catch (error) {
          if (error instanceof ApiError) setProblem(error.message)
        }
      },
      page === undefined ? 0 : searchDelay,
    )
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [api, name, cursors, connectedSince])

  function search(text: string): void {
    setName(text)
    setCursors([undefined])
  }

  usePageTitle('Things')

  const things = page?.things ?? []
  return (
    <div class="things-page">
      <section class="card" aria-labelledby="things-heading">
        <div class="card-head">
          <h1 id="things-heading">Things</h1>
          <input
            type="search"
            placeholder="Search by name"
            aria-label="Search by name"
            value={name}
            onInput={event => search(event.currentTarget.value)}
          />
        </div>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {page === undefined && problem === undefined && <p class="muted loading">Loading…</p>}
        {page !== undefined && things.length === 0 && <NoThings signedIn={signedIn} name={name} />}
        {things.length > 0 && <ThingsTable live={live} things={things} />}
        <Paging cursors={cursors} next={page?.next} onCursors={setCursors} />
      </section>
      <section class="card map-card" aria-label="Map of things">
        <ThingsMap signedIn={signedIn} things={things} />
      </section>
    </div>
  )
}

/** The server looks at 1,000 things at a time, and none of those may have the name that is searched for. */
async function fetchFilledPage(
  { api }: SignedIn,
  name: string,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Page> {
  const query = { limit: thingsPerPage, ...(name === '' ? {} : { name }) }
  let page = await fetchThings(api, cursor === undefined ? query : { ...query, cursor }, signal)
  const things: ThingSummary[] = [...page.things]
  while (things.length === 0 && page.next !== undefined) {
    page = await fetchThings(api, { ...query, cursor: page.next }, signal)
    things.push(...page.things)
  }
  return { ...page, things: things.sort((one, other) => inOrder(one.name, other.name)) }
}

/** The server's order is that of the ids, which nobody looks for. */
const { compare: inOrder } = new Intl.Collator(undefined, { numeric: true })

interface PagingProps {
  readonly cursors: readonly (string | undefined)[]
  readonly next: string | undefined
  readonly onCursors: (cursors: readonly (string | undefined)[]) => void
}

function Paging({ cursors, next, onCursors }: PagingProps) {
  if (cursors.length === 1 && next === undefined) return null
  return (
    <nav class="paging" aria-label="Pages of things">
      <button type="button" disabled={cursors.length === 1} onClick={() => onCursors(cursors.slice(0, -1))}>
        Previous
      </button>
      <span class="muted">Page {cursors.length}</span>
      <button type="button" disabled={next === undefined} onClick={() => onCursors([...cursors, next])}>
        Next
      </button>
    </nav>
  )
}

function NoThings({ signedIn, name }: { readonly signedIn: SignedIn; readonly name: string }) {
  if (name !== '') return <p class="muted">No name contains “{name}”.</p>
  if (signedIn.principal.kind === 'admin') {
    return (
      <p class="muted">
        No things yet. Create one on the <a href="#/operator">operator page</a>.
      </p>
    )
  }
  return <p class="muted">This session may see no thing.</p>
}
