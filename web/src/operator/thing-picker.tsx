import { useEffect, useState } from 'preact/hooks'
import { type Api, ApiError } from '../api/http.ts'
import { Problem } from '../controls/problem.tsx'
import { fetchAllThings } from '../things/all-things.ts'

const thingsShown = 20
/** Milliseconds without typing after which the search begins. */
const searchDelay = 200

/** Names by thing id. */
type Names = ReadonlyMap<string, string>

interface ThingPickerProps {
  readonly api: Api
  readonly chosen: Names
  readonly onChange: (chosen: Names) => void
}

/** Chooses things by name. Chosen things stay visible during a search. */
export function ThingPicker({ api, chosen, onChange }: ThingPickerProps) {
  const [search, setSearch] = useState('')
  const [found, setFound] = useState<Names>(new Map())
  const [problem, setProblem] = useState<string>()

  useEffect(() => {
    const abort = new AbortController()
    const timer = setTimeout(async () => {
      try {
        const { things } = await fetchAllThings(api, { name: search }, abort.signal)
        setFound(new Map(things.slice(0, thingsShown).map(({ thingId, name }) => [thingId, name])))
        setProblem(undefined)
      } catch (error) {
        if (error instanceof ApiError) setProblem(error.message)
      }
    }, searchDelay)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [api, search])

  function choose(thingId: string, name: string, isChosen: boolean): void {
    const changed = new Map(chosen)
    if (isChosen) changed.set(thingId, name)
    else changed.delete(thingId)
    onChange(changed)
  }

  return (
    <fieldset class="thing-picker">
      <legend>Things of the session ({chosen.size} chosen)</legend>
      <input
        type="search"
        aria-label="Search things to choose by name"
        placeholder="Search by name"
        value={search}
        onInput={event => setSearch(event.currentTarget.value)}
      />
      <Problem text={problem} />
      {[...new Map([...chosen, ...found])].map(([thingId, name]) => (
        <label key={thingId} class="check">
          <input
            type="checkbox"
            checked={chosen.has(thingId)}
            onChange={event => choose(thingId, name, event.currentTarget.checked)}
          />
          <span>
            {name || 'unnamed'} <code class="muted">{thingId}</code>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
