import { useEffect, useMemo, useState } from 'preact/hooks'
import { ApiError } from '../../api/http.ts'
import { useReconnects } from '../../live/reconnects.ts'
import { MapView } from '../../map/map-view.tsx'
import { formatPosition } from '../../map/place.ts'
import type { SignedIn } from '../../session/signed-in.ts'
import { serverTime } from '../../time/clock.ts'
import { formatDuration } from '../../time/format.ts'
import { Age, Moment } from '../../time/moment.tsx'
import type { LatestValues } from '../latest-values.ts'
import { type Fix, fixOf } from './fix.ts'
import './position.css'
import { allTrack, grown, readTrack, stretchesOf, type Track, type TrackRange, trackRanges } from './track.ts'

interface PositionProps {
  readonly signedIn: SignedIn
  readonly thingId: string
  /** Undefined while the page is loading. */
  readonly values: LatestValues | undefined
}

/** Number of fixes in the table. */
const listed = 10

/** The position and the track of the thing, on a map, as text and as a table. */
export function Position({ signedIn, thingId, values }: PositionProps) {
  const [range, setRange] = useState(trackRanges[0])
  const current = values?.position.value
  const isComplete = values?.isComplete.value ?? false
  const { track, problem } = useTrack(signedIn, thingId, range, current !== undefined)
  const isOlder =
    current !== undefined && range.length !== undefined && current.datetime < serverTime() - range.length
  const stretches = useMemo(() => (track ? stretchesOf(track) : []), [track])
  const places = useMemo(
    () => (current ? [{ id: thingId, name: '', position: current }] : []),
    [thingId, current],
  )

  return (
    <section
      class={current || isComplete ? 'position card' : 'position card opening'}
      aria-labelledby="position-heading"
    >
      <div class="card-head">
        <h2 id="position-heading">Position</h2>
      </div>
      {current ? (
        <p>
          <strong>{formatPosition(current)}</strong>, <Age milliseconds={current.datetime} />
        </p>
      ) : !isComplete ? (
        <p class="muted loading">Loading…</p>
      ) : (
        <p class="muted">
          No position yet. The thing gets one when it writes the key <code>$geo</code>, for example{' '}
          <code>{'{"values":[{"key":"$geo","value":[23.54,60.08]}]}'}</code>. The longitude comes first.
        </p>
      )}
      {current && (
        <>
          <fieldset class="ranges">
            <legend class="visually-hidden">Range of the track</legend>
            <span class="segments">
              {trackRanges.map(choice => (
                <button
                  key={choice.label}
                  type="button"
                  aria-pressed={choice === range}
                  onClick={() => setRange(choice)}
                >
                  {choice.label}
                </button>
              ))}
            </span>
          </fieldset>
          {isOlder && (
            <p class="muted">
              The newest position is older.{' '}
              <button type="button" onClick={() => setRange(allTrack)}>
                Show the whole track
              </button>
            </p>
          )}
          <MapView label="Map of the position and the track" track={stretches} places={places} />
          {problem && (
            <p class="problem" role="alert">
              The track could not be read: {problem}
            </p>
          )}
          <div class="track-text">
            {track && <TrackText track={track} gaps={Math.max(0, stretches.length - 1)} />}
          </div>
        </>
      )}
    </section>
  )
}

function TrackText({ track: { fixes, every }, gaps }: { readonly track: Track; readonly gaps: number }) {
  return (
    <details>
      <summary>
        {fixes.length} {fixes.length === 1 ? 'position' : 'positions'} shown
        {every !== undefined && `. Of the older ones, one every ${formatDuration(every)}`}
        {gaps > 0 && `. ${gaps} ${gaps === 1 ? 'gap' : 'gaps'} without positions: no line is drawn there`}
      </summary>
      <table>
        <caption>
          {fixes.length === 1
            ? 'The position'
            : `The last ${Math.min(listed, fixes.length)} positions, newest first`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Position</th>
          </tr>
        </thead>
        <tbody>
          {fixes
            .slice(-listed)
            .reverse()
            .map(fix => (
              <tr key={fix.datetime}>
                <td>
                  <Moment milliseconds={fix.datetime} />
                </td>
                <td>{formatPosition(fix)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </details>
  )
}

/**
 * The stored track with live fixes. Read again after a reconnect.
 *
 * @param isKnown whether the thing has a position; without a position, no track is read
 */
function useTrack({ api, live }: SignedIn, thingId: string, range: TrackRange, isKnown: boolean) {
  const [track, setTrack] = useState<Track>()
  const [problem, setProblem] = useState('')
  const reconnects = useReconnects(live)
  useEffect(() => {
    if (!isKnown) return
    const abort = new AbortController()
    // Live fixes that arrive while the track is read. They may already be in the track.
    let early: Fix[] | undefined = []
    const unsubscribe = live.subscribe(`things/${thingId}/values/$geo`, (_topic, payload) => {
      const fix = fixOf(payload)
      if (!fix) setTrack({ fixes: [] })
      else if (early) early.push(fix)
      else setTrack(before => before && grown(before, fix))
    })
    readTrack(api, thingId, range, abort.signal).then(
      read => {
        setTrack(early?.reduce(grown, read))
        setProblem('')
        early = undefined
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(error instanceof ApiError ? error.message : String(error))
      },
    )
    return () => {
      abort.abort()
      unsubscribe()
    }
  }, [api, live, thingId, range, isKnown, reconnects])
  return { track, problem }
}
