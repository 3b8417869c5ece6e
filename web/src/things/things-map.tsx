import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ThingSummary } from '../api/things.ts'
import { MapView } from '../map/map-view.tsx'
import type { Position } from '../map/place.ts'
import { thingHash } from '../route.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { fixOf } from '../thing/position/fix.ts'

interface ThingsMapProps {
  readonly signedIn: SignedIn
  /** The things in the list next to the map. */
  readonly things: readonly ThingSummary[]
  /** Whether the list has several pages. */
  readonly isPage: boolean
}

/** A map with the positions of the listed things, updated live. */
export function ThingsMap({ signedIn, things, isPage }: ThingsMapProps) {
  const live = useLivePositions(signedIn, things)
  const places = useMemo(
    () =>
      things.flatMap(({ thingId, name, position }) => {
        const current = live.get(thingId) ?? position
        return current ? [{ id: thingId, name: name || thingId, position: current }] : []
      }),
    [things, live],
  )
  const label = `Map of ${places.length} of ${things.length} things`
  return (
    <>
      <MapView label={label} places={places} onPick={thingId => location.assign(thingHash(thingId))} />
      <p class="muted">{shownText(places.length, things.length, isPage)}</p>
    </>
  )
}

/** A text that explains which things the map shows. */
function shownText(placed: number, listed: number, isPage: boolean): string {
  const which = isPage ? 'on this page of the list' : 'in the list'
  const advice = 'A thing appears on the map when it writes the key $geo.'
  // The list is empty before the first answer, and if no thing matches the filters.
  if (listed === 0) return 'The map shows the things in the list.'
  if (placed === 0 && listed === 1) return `The thing ${which} has no position yet. ${advice}`
  if (placed === 0) return `None of the ${listed} things ${which} has a position yet. ${advice}`
  if (placed === listed) return `The map shows the ${listed} ${listed === 1 ? 'thing' : 'things'} ${which}.`
  return `The map shows ${placed} of the ${listed} things ${which}. The others have no position.`
}

function useLivePositions(
  { live }: SignedIn,
  things: readonly ThingSummary[],
): ReadonlyMap<string, Position> {
  const [positions, setPositions] = useState<ReadonlyMap<string, Position>>(new Map())
  const ids = things.map(({ thingId }) => thingId).join(' ')
  useEffect(() => {
    if (ids === '') return
    // One topic filter per thing. A common filter would also match all things that are not listed.
    const unsubscribes = ids.split(' ').map(thingId =>
      live.subscribe(`things/${thingId}/values/$geo`, (_topic, payload) => {
        const fix = fixOf(payload)
        if (fix) setPositions(before => new Map(before).set(thingId, fix))
      }),
    )
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe()
    }
  }, [live, ids])
  return positions
}
