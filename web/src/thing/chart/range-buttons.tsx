import { useState } from 'preact/hooks'
import { ApiError } from '../../api/http.ts'
import { type ReadingRecord, resourcePath } from '../../api/records.ts'
import type { SignedIn } from '../../session/signed-in.ts'
import { serverTime } from '../../time/clock.ts'
import type { ChartGestures } from './gestures.ts'
import { allWindow, type TimeWindow } from './window.ts'

interface RangeButtonsProps {
  readonly signedIn: SignedIn
  readonly thingId: string
  readonly resourceKey: string
  readonly shown: TimeWindow
  readonly gestures: ChartGestures
  readonly onShow: (shown: TimeWindow) => void
}

const minute = 60_000
const ranges = {
  '15 min': 15 * minute,
  '1 h': 60 * minute,
  '1 d': 1_440 * minute,
  '7 d': 7 * 1_440 * minute,
  '30 d': 30 * 1_440 * minute,
} as const

/** Buttons to choose the shown range of time, and to move and zoom without a pointer. */
export function RangeButtons(props: RangeButtonsProps) {
  const { signedIn, thingId, resourceKey, shown, gestures, onShow } = props
  const [problem, setProblem] = useState<string>()

  async function showAll(): Promise<void> {
    try {
      const [oldest, newest] = await Promise.all([timeOfFirst('asc'), timeOfFirst('desc')])
      if (oldest === undefined || newest === undefined) return
      onShow(allWindow(oldest, newest, serverTime()))
      setProblem(undefined)
    } catch (error) {
      if (error instanceof ApiError) setProblem(error.message)
    }
  }

  async function timeOfFirst(order: 'asc' | 'desc'): Promise<number | undefined> {
    const path = resourcePath(thingId, resourceKey, { order, limit: 1 })
    const [record] = await signedIn.api.get<readonly ReadingRecord[]>(path)
    return record && Date.parse(record.datetime)
  }

  return (
    <div class="chart-buttons">
      <div class="segments" role="group" aria-label="Range">
        {Object.entries(ranges).map(([text, span]) => (
          <button
            key={text}
            type="button"
            aria-pressed={shown.to === undefined && !shown.isAll && shown.span === span}
            onClick={() => onShow({ span })}
          >
            {text}
          </button>
        ))}
        <button type="button" aria-pressed={shown.isAll === true} onClick={() => void showAll()}>
          All
        </button>
      </div>
      <div class="segments" role="group" aria-label="Move and zoom">
        <button type="button" aria-label="Earlier" title="Earlier (←)" onClick={() => gestures.pan(-0.5)}>
          ←
        </button>
        <button
          type="button"
          aria-label="Later"
          title="Later (→)"
          disabled={shown.to === undefined}
          onClick={() => gestures.pan(0.5)}
        >
          →
        </button>
        <button
          type="button"
          aria-label="Zoom in"
          title="Zoom in (+)"
          onClick={() => gestures.zoom(0.5, 0.5)}
        >
          +
        </button>
        <button
          type="button"
          aria-label="Zoom out"
          title="Zoom out (−)"
          onClick={() => gestures.zoom(2, 0.5)}
        >
          −
        </button>
        <button
          type="button"
          title="Back to now (0)"
          disabled={shown.to === undefined}
          onClick={gestures.toNow}
        >
          Now
        </button>
      </div>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
