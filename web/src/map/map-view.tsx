import { useEffect, useRef } from 'preact/hooks'
import 'ol/ol.css'
import './map.css'
import type { Place, Position } from './place.ts'
import { TileChoice } from './tile-choice.tsx'
import { tiles } from './tiles.ts'
import { WorldMap } from './world-map.ts'

interface MapViewProps {
  /** A description of the map, for screen readers. */
  readonly label: string
  /** Oldest first. No line is drawn between the parts. */
  readonly track?: readonly (readonly Position[])[]
  readonly places: readonly Place[]
  readonly onPick?: (id: string) => void
}

/** A map. Once it has the focus, it can be moved with the arrow keys or by dragging, and zoomed with + and − or the wheel. */
export function MapView({ label, track, places, onPick }: MapViewProps) {
  const element = useRef<HTMLDivElement>(null)
  const map = useRef<WorldMap>(undefined)
  const pick = useRef(onPick)
  pick.current = onPick

  useEffect(() => {
    if (!element.current) return
    const created = new WorldMap(element.current, id => pick.current?.(id))
    map.current = created
    return () => created.close()
  }, [])
  const chosenTiles = tiles.value
  useEffect(() => map.current?.showTiles(chosenTiles), [chosenTiles])
  useEffect(() => map.current?.showTrack(track ?? []), [track])
  useEffect(() => map.current?.showPlaces(places), [places])

  return (
    <div class="map-view">
      <div
        ref={element}
        class="map"
        role="application"
        aria-label={`${label}. Arrow keys move, + and − zoom.`}
      />
      <div class="map-foot">
        <button type="button" onClick={() => map.current?.showAll()}>
          Show all
        </button>
        <span class="muted">Click the map to move it.</span>
        <TileChoice />
      </div>
    </div>
  )
}
