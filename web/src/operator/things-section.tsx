import { useCallback, useEffect, useState } from 'preact/hooks'
import { createThing, listThings, type NewThing } from '../api/admin.ts'
import { type Api, ApiError } from '../api/http.ts'
import type { ThingSummary } from '../api/things.ts'
import { keepThingToken } from '../thing-tokens.ts'
import { Problem } from './problem.tsx'
import { Secret, type SecretProps } from './secret.tsx'
import { ThingRow } from './thing-row.tsx'
import { useAction } from './use-action.ts'

const thingsPerPage = 20
/** Milliseconds without a key pressed. */
const searchDelay = 200
/** Milliseconds after which the list is read again, for when the things were last seen. */
const refreshInterval = 10_000

/** Creates things, and lists them with what can be done to each. */
export function ThingsSection({ api }: { readonly api: Api }) {
  const [search, setSearch] = useState('')
  const { things, next, problem, reload, showMore } = useThings(api, search)
  const [secret, setSecret] = useState<Omit<SecretProps, 'onDone'>>()
  return (
    <section class="card" aria-labelledby="operator-things" aria-busy={!things && !problem}>
      <div class="card-head">
        <h2 id="operator-things">Things</h2>
        <input
          type="search"
          aria-label="Search things by name"
          placeholder="Search by name"
          value={search}
          onInput={event => setSearch(event.currentTarget.value)}
        />
      </div>
      <CreateThing
        api={api}
        onCreated={(name, { thingId, thingToken }) => {
          keepThingToken(thingId, thingToken)
          setSecret({ title: `Token of ${name}`, text: thingToken, thingId })
          reload()
        }}
      />
      {secret && <Secret {...secret} onDone={() => setSecret(undefined)} />}
      <Problem text={problem} />
      {things?.length === 0 && (
        <p class="muted">{search === '' ? 'No things yet.' : `No name contains “${search}”.`}</p>
      )}
      <ul class="operator-list">
        {things?.map(thing => (
          <ThingRow key={thing.thingId} api={api} thing={thing} onChange={reload} />
        ))}
      </ul>
      {next !== undefined && (
        <button type="button" onClick={showMore}>
          Show more
        </button>
      )}
    </section>
  )
}

interface CreateThingProps {
  readonly api: Api
  /** @param name what it is to be called in front of the operator */
  readonly onCreated: (name: string, thing: NewThing) => void
}

function CreateThing({ api, onCreated }: CreateThingProps) {
  const [name, setName] = useState('')
  /** The name that another thing has, and that the operator has been told of. */
  const [taken, setTaken] = useState<string>()
  const { isBusy, problem, run } = useAction()

  function submit(event: Event): void {
    event.preventDefault()
    void run(async () => {
      const wanted = name.trim()
      if (wanted !== taken && (await isTaken(api, wanted))) return setTaken(wanted)
      onCreated(wanted, await createThing(api, wanted))
      setName('')
      setTaken(undefined)
    })
  }

  return (
    <form class="inline-form" onSubmit={submit}>
      <label>
        Name
        <input
          required
          pattern=".*\S.*"
          title="What you call the thing, such as boat"
          maxLength={200}
          autocomplete="off"
          value={name}
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={isBusy}>
        Create thing
      </button>
      {taken !== undefined && taken === name.trim() && (
        <p class="problem" role="alert">
          There is a thing called {taken} already. Choose another name. Or press Create thing again to make a
          second one: commands then need the id of either thing.
        </p>
      )}
      <Problem text={problem} />
    </form>
  )
}

async function isTaken(api: Api, name: string): Promise<boolean> {
  let cursor: string | undefined
  do {
    const query = { name, limit: 1000, ...(cursor === undefined ? {} : { cursor }) }
    const page = await listThings(api, query)
    if (page.things.some(thing => thing.name === name)) return true
    cursor = page.next
  } while (cursor !== undefined)
  return false
}

interface Things {
  /** Undefined before the first answer. */
  readonly things: readonly ThingSummary[] | undefined
  readonly next: string | undefined
  readonly problem: string | undefined
  readonly reload: () => void
  readonly showMore: () => void
}

/** The first things of a name, and more of them as they are asked for. */
function useThings(api: Api, name: string): Things {
  const [limit, setLimit] = useState(thingsPerPage)
  const [times, setTimes] = useState(0)
  const [page, setPage] = useState<{ readonly things: readonly ThingSummary[]; readonly next?: string }>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const abort = new AbortController()
    const ask = async () => {
      try {
        const page = await listThings(api, { limit, ...(name === '' ? {} : { name }) }, abort.signal)
        setPage({ ...page, things: page.things.toSorted((one, other) => inOrder(one.name, other.name)) })
        setProblem(undefined)
      } catch (error) {
        if (error instanceof ApiError) setProblem(error.message)
      }
    }
    const timer = setTimeout(ask, name === '' ? 0 : searchDelay)
    const refresh = setInterval(() => document.hidden || ask(), refreshInterval)
    return () => {
      clearTimeout(timer)
      clearInterval(refresh)
      abort.abort()
    }
  }, [api, name, limit, times])
  const reload = useCallback(() => setTimes(before => before + 1), [])
  const showMore = useCallback(() => setLimit(before => Math.min(1000, before + thingsPerPage)), [])
  return { things: page?.things, next: limit < 1000 ? page?.next : undefined, problem, reload, showMore }
}

/** The server's order is that of the ids, which nobody looks for. */
const { compare: inOrder } = new Intl.Collator(undefined, { numeric: true })
