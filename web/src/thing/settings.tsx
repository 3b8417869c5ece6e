import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { SignedIn } from '../session/signed-in.ts'
import { Contested } from './settings/contested.tsx'
import { changesOf, draftOf, edit, editAll, takeStored } from './settings/draft.ts'
import { Fields } from './settings/fields.tsx'
import { JsonText } from './settings/json-text.tsx'
import './settings/settings.css'
import { type SaveStatus, useSettings } from './settings/use-settings.ts'

interface SettingsProps {
  readonly signedIn: SignedIn
  readonly thingId: string
}

/** The thing's settings document (contract §5), as fields or as JSON. Saved settings are sent to the thing immediately. */
export function Settings({ signedIn, thingId }: SettingsProps) {
  const { principal } = signedIn
  const isReadOnly = principal.kind === 'session' && principal.access === 'read'
  const { draft, status, change, save } = useSettings(signedIn, thingId)
  const [view, setView] = useState<'fields' | 'json'>('fields')
  // Number of discards, used as a key: a new key replaces the inputs, and with them any text that is not a valid value.
  const [round, setRound] = useState(0)
  const [hasUnread, setUnread] = useState(false)
  if (!draft)
    return (
      <Frame>
        {status.kind === 'failed' && (
          <p class="problem" role="alert">
            {status.message}
          </p>
        )}
      </Frame>
    )

  const hasChanges = Object.keys(changesOf(draft)).length > 0
  const isEmpty = Object.keys(draft.edited).length === 0
  function discard(): void {
    change(({ stored }) => draftOf(stored))
    setRound(round + 1)
    setUnread(false)
  }

  function show(name: 'fields' | 'json'): void {
    setView(name)
    setUnread(false)
  }

  return (
    <Frame>
      <p class="segments">
        {(['fields', 'json'] as const).map(name => (
          <button key={name} type="button" aria-pressed={view === name} onClick={() => show(name)}>
            {name === 'fields' ? 'Fields' : 'JSON'}
          </button>
        ))}
      </p>
      {isEmpty && (
        <p class="muted">
          None yet. You and the thing both read and write the settings. The thing gets your changes on the
          topic <code>values/$settings</code>.
        </p>
      )}
      <form
        key={round}
        onInput={event => setUnread(!event.currentTarget.checkValidity())}
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        {view === 'fields' ? (
          <Fields
            draft={draft}
            isReadOnly={isReadOnly}
            onEdit={(path, value) => change(before => edit(before, path, value))}
            onTakeStored={path => change(before => takeStored(before, path))}
          />
        ) : (
          <JsonText
            document={draft.edited}
            isReadOnly={isReadOnly}
            onEdit={document => change(before => editAll(before, document))}
          />
        )}
        <Contested draft={draft} onTakeStored={path => change(before => takeStored(before, path))} />
        {!isReadOnly && (
          <p class="actions">
            <button type="submit" class="primary" disabled={!hasChanges || status.kind === 'saving'}>
              Save settings
            </button>{' '}
            <button type="button" disabled={!hasChanges && !hasUnread} onClick={discard}>
              Discard changes
            </button>
          </p>
        )}
      </form>
      <p
        class={status.kind === 'failed' ? 'problem' : 'muted'}
        role={status.kind === 'failed' ? 'alert' : 'status'}
      >
        {textOf(status)}
      </p>
    </Frame>
  )
}

function Frame({ children }: { readonly children: ComponentChildren }) {
  return (
    <section class="settings card" aria-labelledby="settings-heading">
      <div class="card-head">
        <h2 id="settings-heading">Settings</h2>
      </div>
      {children}
    </section>
  )
}

function textOf(status: SaveStatus): string {
  if (status.kind === 'failed') return status.message
  if (status.kind === 'saving') return 'Saving…'
  return status.kind === 'saved' ? 'Saved.' : ''
}
