import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { ThingSummary } from '../api/things.ts'
import type { LiveConnection } from '../live/connection.ts'
import { thingHash } from '../route.ts'
import { serverTime } from '../time/clock.ts'
import { Age } from '../time/moment.tsx'
import { lastHeardOf } from './silence.ts'

interface ThingsTableProps {
  readonly live: LiveConnection
  readonly things: readonly ThingSummary[]
}

/** A table with a row for each thing. */
export function ThingsTable({ live, things }: ThingsTableProps) {
  return (
    <table class="things-table">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Thing id</th>
          <th scope="col" class="numeric">
            Last heard of
          </th>
        </tr>
      </thead>
      <tbody>
        {things.map(thing => (
          <tr key={thing.thingId}>
            <td>
              <a href={thingHash(thing.thingId)}>{thing.name === '' ? 'unnamed' : thing.name}</a>
            </td>
            <td>
              <code>{thing.thingId}</code>
            </td>
            <td class="numeric">
              <LastHeardOf live={live} thing={thing} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Updated with each write to the thing, whatever the credential. */
function LastHeardOf({ live, thing }: { readonly live: LiveConnection; readonly thing: ThingSummary }) {
  const [written] = useState(() => signal<number | undefined>(undefined))
  useEffect(() => {
    // The topic of whole writes has no retained messages. The topics of values may have 10,000 for each thing.
    return live.subscribe(`v2/things/${thing.thingId}`, () => {
      written.value = serverTime()
    })
  }, [live, thing.thingId, written])
  const heard = written.value ?? lastHeardOf(thing)
  return heard === undefined ? <span class="muted">never</span> : <Age milliseconds={heard} />
}
