import './bar.css'
import type { ReadonlySignal } from '@preact/signals'
import { Moment } from '../time/moment.tsx'
import type { LiveState } from './connection.ts'

/** While there is no live connection, warns that the shown data may be old. */
export function LiveBar({ state }: { readonly state: ReadonlySignal<LiveState> }) {
  const { kind, since } = state.value
  return (
    <div role="status" class="live-bar">
      {kind === 'lost' && (
        <p>
          <strong>Not live.</strong> The connection was lost at <Moment milliseconds={since} />. This page may
          show old values. It tries to connect again every few seconds.
        </p>
      )}
    </div>
  )
}
