import { useState } from 'preact/hooks'
import {
  type ActivationCode,
  createActivationCodes,
  listActivationCodes,
  removeActivationCode,
} from '../api/admin.ts'
import type { Api } from '../api/http.ts'
import { CopyButton } from '../controls/copy-button.tsx'
import { Problem } from '../controls/problem.tsx'
import { useAction } from '../controls/use-action.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { Moment } from '../time/moment.tsx'
import { Confirm } from './confirm.tsx'
import { QrCode } from './qr-code.tsx'
import { useList } from './use-list.ts'

const codesAtFirst = 20

/** Activation codes, with which devices register themselves. */
export function CodesSection({ api, live }: Pick<SignedIn, 'api' | 'live'>) {
  const { items: codes, problem, reload } = useList(live, () => listActivationCodes(api))
  const [shown, setShown] = useState(codesAtFirst)
  const [created, setCreated] = useState<ReadonlySet<string>>(new Set())
  const newestFirst = codes?.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)) ?? []
  return (
    <section class="card" aria-labelledby="operator-codes" aria-busy={!codes && !problem}>
      <h2 id="operator-codes">Activation codes</h2>
      <p class="muted">
        Give a device a code in place of a token. The device registers itself: the server makes a thing and
        tells the device the token.
      </p>
      <CreateCodes
        api={api}
        onCreated={made => {
          setCreated(new Set(made))
          reload()
        }}
      />
      <p role="status" class="muted">
        {created.size > 0 &&
          `${created.size} new ${created.size === 1 ? 'code' : 'codes'}, first in the list.`}
      </p>
      <Problem text={problem} />
      {codes?.length === 0 && <p class="muted">No codes.</p>}
      <ul class="operator-list">
        {newestFirst.slice(0, shown).map(code => (
          <CodeRow key={code.activationCode} api={api} code={code} onChange={reload} />
        ))}
      </ul>
      {newestFirst.length > shown && (
        <button type="button" onClick={() => setShown(shown + codesAtFirst)}>
          Show more of {newestFirst.length}
        </button>
      )}
    </section>
  )
}

interface CreateCodesProps {
  readonly api: Api
  readonly onCreated: (codes: readonly string[]) => void
}

function CreateCodes({ api, onCreated }: CreateCodesProps) {
  const [count, setCount] = useState(1)
  const [uses, setUses] = useState(1)
  const { isBusy, problem, run } = useAction()

  function submit(event: Event): void {
    event.preventDefault()
    void run(async () => onCreated(await createActivationCodes(api, { count, uses })))
  }

  return (
    <form class="inline-form" onSubmit={submit}>
      <label>
        Codes
        <input
          type="number"
          min={1}
          max={1000}
          required
          value={count}
          onInput={event => setCount(event.currentTarget.valueAsNumber)}
        />
      </label>
      <label>
        Devices for each
        <input
          type="number"
          min={1}
          max={1_000_000}
          required
          value={uses}
          onInput={event => setUses(event.currentTarget.valueAsNumber)}
        />
      </label>
      <button type="submit" class="primary" disabled={isBusy}>
        Create codes
      </button>
      <Problem text={problem} />
    </form>
  )
}

interface CodeRowProps {
  readonly api: Api
  readonly code: ActivationCode
  readonly onChange: () => void
}

function CodeRow({ api, code: { activationCode, createdAt, usesLeft }, onChange }: CodeRowProps) {
  const [open, setOpen] = useState<'qr' | 'delete'>()
  return (
    <li>
      <div class="operator-row">
        <div class="operator-name">
          <code>{activationCode}</code>
          <span class="muted">
            {usesLeft === 1 ? '1 device' : `${usesLeft} devices`} left, made{' '}
            <Moment milliseconds={Date.parse(createdAt)} />
          </span>
        </div>
        <div class="actions">
          <CopyButton text={activationCode} />
          <button
            type="button"
            aria-expanded={open === 'qr'}
            aria-label={`QR code of ${activationCode}`}
            onClick={() => setOpen(open === 'qr' ? undefined : 'qr')}
          >
            QR code
          </button>
          <button
            type="button"
            class="danger"
            aria-label={`Delete ${activationCode}`}
            onClick={() => setOpen('delete')}
          >
            Delete
          </button>
        </div>
      </div>
      {open === 'qr' && (
        <div class="operator-detail">
          <QrCode text={activationCode} label={`QR code: activation code ${activationCode}`} />
        </div>
      )}
      {open === 'delete' && (
        <Confirm
          title="Delete this activation code?"
          verb="Delete"
          onClose={() => setOpen(undefined)}
          onConfirm={async () => {
            await removeActivationCode(api, activationCode)
            onChange()
          }}
        >
          <p>
            Devices can no longer register with <code>{activationCode}</code>. Registered devices keep
            working. This cannot be undone.
          </p>
        </Confirm>
      )}
    </li>
  )
}
