import { useState } from 'preact/hooks'
import { createThing, listThings, type NewThing } from '../api/admin.ts'
import type { Api } from '../api/http.ts'
import { Problem } from '../controls/problem.tsx'
import { useAction } from '../controls/use-action.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { keepThingToken } from '../session/thing-tokens.ts'
import { useAllThings } from '../things/use-all-things.ts'
import { Secret, type SecretProps } from './secret.tsx'
import { ThingRow } from './thing-row.tsx'

const thingsPerPage = 20

/** Creates things, and lists all things with their actions. */
export function ThingsSection({ signedIn }: { readonly signedIn: SignedIn }) {
  const { api } = signedIn
  const [search, setSearch] = useState('')
  const [limit, setLimit] = useState(thingsPerPage)
  const { all, problem, reload } = useAllThings(signedIn, search)
  const things = all?.things
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
        {things?.slice(0, limit).map(thing => (
          <ThingRow key={thing.thingId} signedIn={signedIn} thing={thing} onChange={reload} />
        ))}
      </ul>
      {things !== undefined && things.length > limit && (
        <button type="button" onClick={() => setLimit(limit + thingsPerPage)}>
          Show more of {things.length}
        </button>
      )}
      {all?.isAll === false && <p class="muted">There are more things. Search by name.</p>}
    </section>
  )
}

interface CreateThingProps {
  readonly api: Api
  /** @param name the name under which the operator sees the thing */
  readonly onCreated: (name: string, thing: NewThing) => void
}

function CreateThing({ api, onCreated }: CreateThingProps) {
  const [name, setName] = useState('')
  /** The name about which the operator was warned, because another thing has the same name. */
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
