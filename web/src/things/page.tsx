import './page.css'
import { useState } from 'preact/hooks'
import { lazily } from '../lazily.tsx'
import { usePageTitle } from '../page-title.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { serverTime } from '../time/clock.ts'
import { isSilent, type Silence, silences } from './silence.ts'
import { ThingsTable } from './table.tsx'
import { type ListedThings, useAllThings } from './use-all-things.ts'

const ThingsMap = lazily(() => import('./things-map.tsx').then(({ ThingsMap }) => ThingsMap))

/** Each shown thing needs two subscriptions, for the list and for the map. A connection may have 100 subscriptions. */
const thingsPerPage = 45

/** The things that the principal may see, as a list and on a map. */
export function ThingsPage({ signedIn }: { readonly signedIn: SignedIn }) {
  const [name, setName] = useState('')
  const [silence, setSilence] = useState<Silence>(silences[0])
  const [asked, setAsked] = useState(0)
  const listed = useAllThings(signedIn, name)
  const { all, problem } = listed
  const found = all?.things.filter(thing => isSilent(thing, silence, serverTime())) ?? []
  const pages = Math.max(1, Math.ceil(found.length / thingsPerPage))
  const page = Math.min(asked, pages - 1)
  const things = found.slice(page * thingsPerPage, (page + 1) * thingsPerPage)
  usePageTitle('Things')

  return (
    <div class="things-page">
      <section
        class={all || problem !== undefined ? 'card' : 'card opening'}
        aria-labelledby="things-heading"
      >
        <div class="card-head">
          <h1 id="things-heading">Things</h1>
          <select
            aria-label="Which things"
            value={silence.label}
            onChange={event => {
              setSilence(silences.find(({ label }) => label === event.currentTarget.value) ?? silences[0])
              setAsked(0)
            }}
          >
            {silences.map(({ label }) => (
              <option key={label}>{label}</option>
            ))}
          </select>
          <input
            type="search"
            placeholder="Search by name"
            aria-label="Search by name"
            value={name}
            onInput={event => {
              setName(event.currentTarget.value)
              setAsked(0)
            }}
          />
        </div>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {!all && problem === undefined && <p class="muted loading">Loading…</p>}
        <Total listed={listed} found={found.length} />
        {all && found.length === 0 && (
          <NoThings {...{ signedIn, name, silence }} isAnyNamed={all.things.length > 0} />
        )}
        {things.length > 0 && <ThingsTable live={signedIn.live} things={things} />}
        {pages > 1 && <Paging page={page} pages={pages} onPage={setAsked} />}
      </section>
      <section class="card map-card" aria-label="Map of things">
        <ThingsMap signedIn={signedIn} things={things} isPage={pages > 1} />
      </section>
    </div>
  )
}

/** Shows the number of things. */
function Total({ listed: { all }, found }: { readonly listed: ListedThings; readonly found: number }) {
  if (!all || all.things.length === 0) return null
  const total = `${all.isAll ? '' : 'the first '}${all.things.length} ${all.things.length === 1 ? 'thing' : 'things'}`
  const advice = all.isAll ? '' : '. There are more: search by name'
  const text = found === all.things.length ? total : `${found} of ${total}`
  return (
    <p role="status" class="muted">
      {`${text[0]?.toUpperCase()}${text.slice(1)}${advice}.`}
    </p>
  )
}

interface PagingProps {
  /** Number of the page, from 0. */
  readonly page: number
  readonly pages: number
  readonly onPage: (page: number) => void
}

function Paging({ page, pages, onPage }: PagingProps) {
  return (
    <nav class="paging" aria-label="Pages of things">
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Previous
      </button>
      <span class="muted">
        Page {page + 1} of {pages}
      </span>
      <button type="button" disabled={page === pages - 1} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </nav>
  )
}

interface NoThingsProps {
  readonly signedIn: SignedIn
  readonly name: string
  readonly silence: Silence
  /** Whether there are things with this name. */
  readonly isAnyNamed: boolean
}

function NoThings({ signedIn, name, silence, isAnyNamed }: NoThingsProps) {
  if (isAnyNamed && silence !== silences[0]) return <p class="muted">None of them is so silent.</p>
  if (name !== '') return <p class="muted">No name contains “{name}”.</p>
  if (signedIn.principal.kind === 'admin') {
    return (
      <p class="muted">
        No things yet. Create one, or add a source for devices that need no program, on the{' '}
        <a href="#/operator">operator page</a>.
      </p>
    )
  }
  return <p class="muted">This session may see no thing.</p>
}
