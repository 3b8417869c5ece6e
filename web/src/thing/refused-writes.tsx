import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/http.ts'
import { useReconnects } from '../live/reconnects.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { Moment } from '../time/moment.tsx'
import {
  faultText,
  grouped,
  groupedFaults,
  isCut,
  merged,
  type RefusedGroup,
  type RefusedWrite,
  sameness,
} from './refused-write.ts'
import './refused-writes.css'

interface RefusedWritesProps {
  readonly signedIn: SignedIn
  readonly thingId: string
}

/** Number of groups that are shown until the user asks for all. Few, because the settings are below. */
const shownAtFirst = 3

/** The thing's refused writes, newest first, with reasons. Not for sessions that may only read (contract §7). */
export function RefusedWrites({ signedIn, thingId }: RefusedWritesProps) {
  const { list, problem } = useRefusedWrites(signedIn, thingId)
  const [isWhole, setWhole] = useState(false)
  const groups = grouped(list ?? [])
  const hidden = groups.length - shownAtFirst
  return (
    <section
      class={list || problem ? 'refused-writes card' : 'refused-writes card opening'}
      aria-labelledby="refused-heading"
    >
      <div class="card-head">
        <h2 id="refused-heading">Refused writes</h2>
      </div>
      {problem && (
        <p class="problem" role="alert">
          The refused writes could not be read: {problem}
        </p>
      )}
      {list?.length === 0 && (
        <p class="muted">
          None. When the server refuses a write of this thing, or turns its connection away, it appears here
          at once, with the reason. An MQTT device hears the reason only if it subscribes to its errors.
        </p>
      )}
      {list && list.length > 0 && (
        <ol aria-live="polite">
          {groups.slice(0, isWhole ? undefined : shownAtFirst).map(group => (
            <RefusedItem key={sameness(group.newest)} group={group} />
          ))}
        </ol>
      )}
      {hidden > 0 && (
        <p class="more">
          <button type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : `Show ${hidden} more`}
          </button>
        </p>
      )}
    </section>
  )
}

function RefusedItem({ group: { newest, count, since, otherExcerpts } }: { readonly group: RefusedGroup }) {
  const { datetime, door, reason, message, errors = [], id, excerpt } = newest
  return (
    <li>
      <p>
        <Moment milliseconds={Date.parse(datetime)} />{' '}
        {door === 'host' ? 'by the host' : `over ${door.toUpperCase()}`}: <code>{reason}</code>
        {id !== undefined && (
          <>
            , write id <code>{id}</code>
          </>
        )}
        {count > 1 && (
          <>
            , {count} times
            {since !== datetime && (
              <>
                {' '}
                since <Moment milliseconds={Date.parse(since)} />
              </>
            )}
          </>
        )}
      </p>
      {errors.length === 0 ? (
        <p>{message}</p>
      ) : (
        <ul>
          {groupedFaults(errors).map(group => (
            <li key={faultText(group)}>
              {faultText(group)} (<code>{group.first.reason}</code>)
            </li>
          ))}
        </ul>
      )}
      {excerpt !== '' && (
        <>
          <p class="muted">{isCut(excerpt) ? 'The write began with:' : 'The write was:'}</p>
          <pre>{excerpt}</pre>
        </>
      )}
      {otherExcerpts.length > 0 && (
        <details>
          <summary>
            {otherExcerpts.length} other {otherExcerpts.length === 1 ? 'write' : 'writes'}
          </summary>
          {otherExcerpts.map(other => (
            <pre key={other}>{other}</pre>
          ))}
        </details>
      )}
    </li>
  )
}

function useRefusedWrites({ api, live }: SignedIn, thingId: string) {
  const [list, setList] = useState<readonly RefusedWrite[]>()
  const [problem, setProblem] = useState('')
  const reconnects = useReconnects(live)
  useEffect(() => {
    const abort = new AbortController()
    // A write that is refused while the list is read may already be in the list. `merged` shows it once.
    const unsubscribe = live.subscribe(`things/${thingId}/errors`, (_topic, payload) =>
      setList(before => merged([payload as RefusedWrite], before ?? [])),
    )
    api.get<readonly RefusedWrite[]>(`/v2/things/${thingId}/errors`, abort.signal).then(
      read => {
        setList(before => merged(before ?? [], read))
        setProblem('')
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(error instanceof ApiError ? error.message : String(error))
      },
    )
    return () => {
      abort.abort()
      unsubscribe()
    }
  }, [api, live, thingId, reconnects])
  return { list, problem }
}
