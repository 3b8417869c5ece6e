import { useState } from 'preact/hooks'
import { listSources, listUnread, removeSource, type SourceSummary } from '../api/sources.ts'
import { Problem } from '../controls/problem.tsx'
import type { SignedIn } from '../session/signed-in.ts'
import { ConnectSource, SourceChoice } from '../sources/connect-source.tsx'
import type { SourceKind } from '../sources/kinds.ts'
import { DeviceHost } from '../thing/connect/device-host.tsx'
import { useServerFacts } from '../thing/connect/server-facts.ts'
import { useAllThings } from '../things/use-all-things.ts'
import { Moment } from '../time/moment.tsx'
import { Confirm } from './confirm.tsx'
import { useList } from './use-list.ts'

const sourcesAtFirst = 20
const shownUnread = 10
/** Milliseconds. There is no message when a command adds a source. */
const refreshInterval = 5_000

/** Sources, each one credential for many devices, whose things it makes. */
export function SourcesSection({ signedIn }: { readonly signedIn: SignedIn }) {
  const { api, live } = signedIn
  const { items: sources, problem, reload } = useList(live, () => listSources(api), refreshInterval)
  const [kind, setKind] = useState<SourceKind>()
  const [host, setHost] = useState(location.hostname)
  const facts = useServerFacts(api)
  return (
    <section class="card" aria-labelledby="operator-sources" aria-busy={!sources && !problem}>
      <h2 id="operator-sources">Sources</h2>
      <p class="muted">
        A source is one password for many devices. It makes a thing for each device that sends a message.
      </p>
      <SourceChoice facts={facts} chosen={kind} onChoose={setKind} />
      {kind && (
        <>
          <DeviceHost host={host} facts={facts} onHost={setHost} />
          <ConnectSource key={kind.name} {...{ api, kind, host, facts }} onCreated={reload} />
        </>
      )}
      <Problem text={problem} />
      {sources?.length === 0 && <p class="muted">No sources.</p>}
      {sources !== undefined && sources.length > 0 && (
        <SourceList {...{ signedIn, sources }} onChange={reload} />
      )}
    </section>
  )
}

interface SourceListProps {
  readonly signedIn: SignedIn
  readonly sources: readonly SourceSummary[]
  readonly onChange: () => void
}

function SourceList({ signedIn, sources, onChange }: SourceListProps) {
  const [shown, setShown] = useState(sourcesAtFirst)
  const { all } = useAllThings(signedIn, '')
  const thingsOf = (sourceId: string) => {
    const count = all?.things.filter(({ source }) => source?.sourceId === sourceId).length ?? 0
    return `${all?.isAll === false ? 'at least ' : ''}${count} ${count === 1 ? 'thing' : 'things'}`
  }
  return (
    <>
      <ul class="operator-list">
        {sources.slice(0, shown).map(source => (
          <SourceRow
            key={source.sourceId}
            {...{ signedIn, source, onChange }}
            things={all && thingsOf(source.sourceId)}
          />
        ))}
      </ul>
      {sources.length > shown && (
        <button type="button" onClick={() => setShown(shown + sourcesAtFirst)}>
          Show more of {sources.length}
        </button>
      )}
    </>
  )
}

interface SourceRowProps {
  readonly signedIn: SignedIn
  readonly source: SourceSummary
  /** How many things it has; undefined while not known. */
  readonly things: string | undefined
  readonly onChange: () => void
}

function SourceRow({ signedIn, source, things, onChange }: SourceRowProps) {
  const { sourceId, name, formats, pattern, topics, createdAt } = source
  const [open, setOpen] = useState<'unread' | 'delete'>()
  return (
    <li>
      <div class="operator-row">
        <div class="operator-name">
          <strong>{name}</strong>
          <span class="muted">
            {formats.join(', ')}
            {pattern !== undefined && ` with ${pattern}`}; {topicsText(topics)}
          </span>
          <span class="muted">
            {things !== undefined && `${things}, `}made <Moment milliseconds={Date.parse(createdAt)} />
          </span>
        </div>
        <div class="actions">
          <button
            type="button"
            aria-expanded={open === 'unread'}
            aria-label={`Messages of ${name} that were not read`}
            onClick={() => setOpen(open === 'unread' ? undefined : 'unread')}
          >
            Not read
          </button>
          <button
            type="button"
            class="danger"
            aria-label={`Delete source ${name}`}
            onClick={() => setOpen('delete')}
          >
            Delete
          </button>
        </div>
      </div>
      {open === 'unread' && <Unread signedIn={signedIn} sourceId={sourceId} />}
      {open === 'delete' && (
        <Confirm
          title={`Delete source ${name}?`}
          verb="Delete"
          onClose={() => setOpen(undefined)}
          onConfirm={async () => {
            await removeSource(signedIn.api, sourceId)
            onChange()
          }}
        >
          <p>
            All devices with its password are disconnected at once. Its things and their readings stay. This
            cannot be undone.
          </p>
        </Confirm>
      )}
    </li>
  )
}

interface UnreadProps {
  readonly signedIn: SignedIn
  readonly sourceId: string
}

/** What a source has sent last that could not be read or stored. */
function Unread({ signedIn: { api, live }, sourceId }: UnreadProps) {
  const { items, problem } = useList(live, () => listUnread(api, sourceId, shownUnread))
  return (
    <div class="operator-detail">
      <Problem text={problem} />
      {items?.length === 0 && <p class="muted">Everything was read.</p>}
      <ul class="operator-list">
        {items?.map(({ datetime, message, reason, count = 1 }, at) => (
          <li key={at} class="breakable">
            {message}{' '}
            <span class="muted">
              ({reason}), {count > 1 && `${count} times, `}
              <Moment milliseconds={Date.parse(datetime)} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function topicsText(topics: readonly string[]): string {
  if (topics.length === 0) return 'over HTTP'
  return topics.includes('#') ? 'all topics' : topics.join(', ')
}
