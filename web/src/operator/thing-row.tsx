import { useState } from 'preact/hooks'
import { removeThing, renameThing } from '../api/admin.ts'
import type { Api } from '../api/http.ts'
import type { ThingSummary } from '../api/things.ts'
import { Problem } from '../controls/problem.tsx'
import { useAction } from '../controls/use-action.ts'
import { thingHash } from '../route.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { lastHeardOf } from '../things/silence.ts'
import { Age } from '../time/moment.tsx'
import { Confirm } from './confirm.tsx'
import { Tokens } from './tokens.tsx'

interface ThingRowProps {
  readonly signedIn: Pick<SignedIn, 'api' | 'live'>
  readonly thing: ThingSummary
  /** Called when the thing was renamed or deleted. */
  readonly onChange: () => void
}

/** A thing in the operator's list. */
export function ThingRow({ signedIn, thing, onChange }: ThingRowProps) {
  const { api } = signedIn
  const [open, setOpen] = useState<'tokens' | 'rename' | 'delete'>()
  const { thingId, name, lastSeen } = thing
  const heard = lastHeardOf(thing)
  const called = name || thingId
  const toggle = (part: 'tokens' | 'rename') => setOpen(open === part ? undefined : part)
  return (
    <li>
      <div class="operator-row">
        <div class="operator-name">
          <a href={thingHash(thingId)}>{name || 'unnamed'}</a>
          <span class="muted">
            <code>{thingId}</code>, last heard of{' '}
            {heard === undefined ? 'never' : <Age milliseconds={heard} />}
            {heard !== undefined && lastSeen === null && ', its own token was never used'}
          </span>
        </div>
        <div class="actions">
          <button
            type="button"
            aria-expanded={open === 'tokens'}
            aria-label={`Tokens of ${called}`}
            onClick={() => toggle('tokens')}
          >
            Tokens
          </button>
          <button
            type="button"
            aria-expanded={open === 'rename'}
            aria-label={`Rename ${called}`}
            onClick={() => toggle('rename')}
          >
            Rename
          </button>
          <button
            type="button"
            class="danger"
            aria-label={`Delete ${called}`}
            onClick={() => setOpen('delete')}
          >
            Delete
          </button>
        </div>
      </div>
      {open === 'tokens' && <Tokens signedIn={signedIn} thingId={thingId} name={called} />}
      {open === 'rename' && (
        <Rename
          api={api}
          thing={thing}
          onDone={() => {
            setOpen(undefined)
            onChange()
          }}
        />
      )}
      {open === 'delete' && (
        <Confirm
          title={`Delete ${called}?`}
          verb="Delete for good"
          typed={called}
          onClose={() => setOpen(undefined)}
          onConfirm={async () => {
            await removeThing(api, thingId)
            onChange()
          }}
        >
          <p>
            Its tokens are revoked and its device is disconnected at once. All its readings, its settings and
            its track are removed. This cannot be undone.
          </p>
        </Confirm>
      )}
    </li>
  )
}

interface RenameProps {
  readonly api: Api
  readonly thing: ThingSummary
  readonly onDone: () => void
}

function Rename({ api, thing, onDone }: RenameProps) {
  const [name, setName] = useState(thing.name)
  const { isBusy, problem, run } = useAction()

  function submit(event: Event): void {
    event.preventDefault()
    void run(async () => {
      await renameThing(api, thing.thingId, name.trim())
      onDone()
    })
  }

  return (
    <form class="inline-form operator-detail" onSubmit={submit}>
      <label>
        New name
        <input
          maxLength={200}
          autocomplete="off"
          value={name}
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={isBusy}>
        Save
      </button>
      <Problem text={problem} />
    </form>
  )
}
