import { type Forwarding, readForwarding } from '../api/admin.ts'
import { Problem } from '../controls/problem.tsx'
import type { SignedIn } from '../session/signed-in.ts'
import { Moment } from '../time/moment.tsx'
import { formatBytes } from './figures/format.ts'
import { useList } from './use-list.ts'

/** Milliseconds. */
const pollInterval = 5_000

/** The state of forwarding to the central server. Empty if records are not forwarded. */
export function ForwardingSection({ api, live }: Pick<SignedIn, 'api' | 'live'>) {
  const { items, problem } = useList(live, () => readForwarding(api), pollInterval)
  const [forwarding] = items ?? []
  if (!forwarding) return null
  return (
    <section class="card" aria-labelledby="operator-forwarding">
      <h2 id="operator-forwarding">Forwarding</h2>
      <Progress forwarding={forwarding} />
      <Problem text={problem} />
      <Faults forwarding={forwarding} />
    </section>
  )
}

function Progress({ forwarding }: { readonly forwarding: Forwarding }) {
  const { target, connected, problem, waiting, forwarded } = forwarding
  return (
    <p>
      To <code>{target}</code>: {connected ? 'connected' : (problem ?? 'not connected')}.{' '}
      {recordsText(waiting.records)} ({formatBytes(waiting.bytes)}) {waiting.records === 1 ? 'waits' : 'wait'}
      {waiting.counted ? '' : ', and more are being counted'}
      {waiting.oldest !== undefined && (
        <>
          , the oldest since <Moment milliseconds={Date.parse(waiting.oldest)} />
        </>
      )}
      . {recordsText(forwarded.records)} forwarded since the start.
    </p>
  )
}

function Faults({ forwarding }: { readonly forwarding: Forwarding }) {
  const { mapProblem, held, droppedRecords, refusedRecords, refused, unknownThings } = forwarding
  return (
    <>
      {mapProblem !== undefined && (
        <p class="problem">{mapProblem}; forwarding continues with the previous thing map.</p>
      )}
      {droppedRecords > 0 && (
        <p class="problem">
          {recordsText(droppedRecords)} will not be forwarded: more waited than <code>forwardLogLimit</code>.
        </p>
      )}
      {unknownThings.map(thingId => (
        <p class="problem" key={thingId}>
          The thing map names <code>{thingId}</code>, but this server has no such thing.
        </p>
      ))}
      {held.map(({ thingId, why, since }) => (
        <p class="problem" key={thingId}>
          Thing <code>{thingId}</code> is held back since <Moment milliseconds={Date.parse(since)} />: {why}.
        </p>
      ))}
      {refusedRecords > 0 && <p class="muted">{recordsText(refusedRecords)} refused for good. The newest:</p>}
      <ul class="operator-list">
        {refused.map(({ thingId, key, datetime, reason, message }) => (
          <li class="operator-row" key={`${thingId} ${key} ${datetime}`}>
            <div class="operator-name">
              <code>{key}</code>
              <span class="muted">
                of <code>{thingId}</code>, <Moment milliseconds={Date.parse(datetime)} />: {message} ({reason}
                )
              </span>
            </div>
          </li>
        ))}
      </ul>
    </>
  )
}

function recordsText(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'record' : 'records'}`
}
