import './sources.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { prefixOf } from '../api/address.ts'
import { type Api, ApiError } from '../api/http.ts'
import { createSource, type NewSource } from '../api/sources.ts'
import { CopyButton } from '../controls/copy-button.tsx'
import { Problem } from '../controls/problem.tsx'
import { useAction } from '../controls/use-action.ts'
import { deviceHost, httpUrlAt } from '../thing/connect/host.ts'
import type { ServerFacts } from '../thing/connect/server-facts.ts'
import { type SourceKind, sourceKinds, termsOf } from './kinds.ts'
import { NewThings } from './new-things.tsx'

interface SourceChoiceProps {
  readonly facts: ServerFacts
  readonly chosen: SourceKind | undefined
  readonly onChoose: (kind: SourceKind) => void
}

/** Buttons for the kinds of devices that need no program. */
export function SourceChoice({ facts, chosen, onChoose }: SourceChoiceProps) {
  return (
    <fieldset class="choices">
      <legend>Devices that need no program</legend>
      {sourceKinds
        .filter(({ way }) => way !== 'mqtt' || facts.mqttPort !== undefined)
        .map(kind => (
          <button key={kind.name} type="button" aria-pressed={kind === chosen} onClick={() => onChoose(kind)}>
            {kind.title}
          </button>
        ))}
    </fieldset>
  )
}

interface ConnectSourceProps {
  readonly api: Api
  readonly kind: SourceKind
  /** Where a device reaches the server, as the user typed it. */
  readonly host: string
  readonly facts: ServerFacts
  readonly onCreated?: () => void
}

/** Makes a source, shows what to enter in the devices, and waits for them. */
export function ConnectSource({ api, kind, host, facts, onCreated }: ConnectSourceProps) {
  const [source, setSource] = useState<NewSource>()
  if (source) {
    return (
      <div class="new-source">
        <Settings {...{ kind, host, facts }} token={source.sourceToken} />
        <NewThings api={api} sourceId={source.sourceId} />
      </div>
    )
  }
  return (
    <>
      <p>All these devices share one password, a source. Each becomes a thing with its first message.</p>
      <SourceForm
        api={api}
        kind={kind}
        onCreated={created => {
          setSource(created)
          onCreated?.()
        }}
      />
    </>
  )
}

interface SourceFormProps {
  readonly api: Api
  readonly kind: SourceKind
  readonly onCreated: (source: NewSource) => void
}

function SourceForm({ api, kind, onCreated }: SourceFormProps) {
  const [name, setName] = useState(kind.name)
  const [pattern, setPattern] = useState('garden/{device}/{key}')
  /** The topics about which the user was warned, because another source has some of them. */
  const [shared, setShared] = useState<string>()
  const { isBusy, problem, run } = useAction()
  const terms = termsOf(kind, pattern.trim())
  const topics = String(terms.topics)

  function submit(event: Event): void {
    event.preventDefault()
    void run(async () => {
      try {
        onCreated(await createSource(api, { name: name.trim(), ...terms, overlap: shared === topics }))
      } catch (error) {
        if (!(error instanceof ApiError && error.reason === 'topics_overlap')) throw error
        setShared(topics)
      }
    })
  }

  return (
    <form class="inline-form" onSubmit={submit}>
      <label>
        Name of the source
        <input
          required
          pattern=".*\S.*"
          maxLength={200}
          autocomplete="off"
          value={name}
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
      {kind.hasPattern && (
        <label>
          Topics, with the levels of device and key
          <input
            required
            size={32}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={pattern}
            onInput={event => setPattern(event.currentTarget.value)}
          />
        </label>
      )}
      <button type="submit" class="primary" disabled={isBusy}>
        Add source
      </button>
      {shared === topics && (
        <p class="problem" role="alert">
          Another source has some of these topics. If it is for the same kind of devices, enter its password
          in these, too. Or press Add source again: each of the two then receives the messages of the other.
        </p>
      )}
      <Problem text={problem} />
    </form>
  )
}

interface SettingsProps extends Pick<ConnectSourceProps, 'kind' | 'host' | 'facts'> {
  readonly token: string
}

function Settings({ kind, host, facts, token }: SettingsProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        Enter this in the device
      </h2>
      <p>{kind.where}</p>
      <dl>
        {Object.entries(entriesFor(kind, deviceHost(host), facts, token)).map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <code>{text}</code> <CopyButton text={text} label={`Copy ${label}`} />
            </dd>
          </div>
        ))}
      </dl>
      {kind.way === 'mqtt' && (
        <p>
          The user may be any text.{facts.mqttsPort !== undefined && ` With TLS: port ${facts.mqttsPort}.`}
        </p>
      )}
      <p>Keep it now. It is shown only once. Nobody can look it up later.</p>
    </>
  )
}

function entriesFor(
  { way, name }: SourceKind,
  host: string,
  { mqttPort }: ServerFacts,
  token: string,
): Readonly<Record<string, string>> {
  const url = httpUrlAt(location, host) + prefixOf()
  if (way === 'mqtt') return { Host: host, Port: String(mqttPort), User: name, Password: token }
  return way === 'webhook' ? { URL: `${url}/v2/sources/${token}` } : { URL: url, Token: token }
}
