import { useState } from 'preact/hooks'
import { createSession, type NewSession } from '../api/admin.ts'
import type { Api } from '../api/http.ts'
import { Problem } from '../controls/problem.tsx'
import { useAction } from '../controls/use-action.ts'
import { ThingPicker } from './thing-picker.tsx'

const hour = 3600
const day = 24 * hour
/** Durations in seconds. The last is the maximum that the server allows. */
const durations: readonly [label: string, seconds: number][] = [
  ['1 hour', hour],
  ['1 day', day],
  ['7 days', 7 * day],
  ['30 days', 30 * day],
  ['366 days', 366 * day],
]

interface SessionFormProps {
  readonly api: Api
  readonly onCreated: (session: NewSession) => void
}

/** Creates a session for all things or for chosen things. */
export function SessionForm({ api, onCreated }: SessionFormProps) {
  const [access, setAccess] = useState<'read' | 'write'>('read')
  const [expiresIn, setExpiresIn] = useState(day)
  const [isForAll, setForAll] = useState(true)
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map())
  const { isBusy, problem, run } = useAction()

  function submit(event: Event): void {
    event.preventDefault()
    void run(async () => {
      const things = isForAll ? '*' : [...chosen.keys()]
      onCreated(await createSession(api, { things, access, expiresIn }))
    })
  }

  return (
    <form class="session-form" onSubmit={submit}>
      <div class="inline-form">
        <label>
          May
          <select
            value={access}
            onChange={event => setAccess(event.currentTarget.value === 'write' ? 'write' : 'read')}
          >
            <option value="read">read</option>
            <option value="write">read and write</option>
          </select>
        </label>
        <label>
          For
          <select value={expiresIn} onChange={event => setExpiresIn(Number(event.currentTarget.value))}>
            {durations.map(([label, seconds]) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          Things
          <select
            value={isForAll ? 'all' : 'some'}
            onChange={event => setForAll(event.currentTarget.value === 'all')}
          >
            <option value="all">all, and those to come</option>
            <option value="some">some</option>
          </select>
        </label>
        <button type="submit" class="primary" disabled={isBusy || (!isForAll && chosen.size === 0)}>
          Create session
        </button>
      </div>
      {!isForAll && <ThingPicker api={api} chosen={chosen} onChange={setChosen} />}
      <Problem text={problem} />
    </form>
  )
}
