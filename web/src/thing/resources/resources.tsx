import './resources.css'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { thingHash } from '../../route.ts'
import type { SignedIn } from '../../session/signed-in.ts'
import type { TimeWindow } from '../chart/window.ts'
import type { LatestValues } from '../latest-values.ts'
import { hashWith, type View, viewOf } from '../view.ts'
import { firstKey } from './first-key.ts'
import { ResourceRow } from './resource-row.tsx'
import { SelectedResource } from './selected-resource.tsx'

interface ResourcesProps {
  readonly signedIn: SignedIn
  readonly thingId: string
  readonly values: LatestValues | undefined
}

/** Maximum number of rows. A thing may have 10,000 resources, and a table of all resources would be slow. */
const shownRows = 100

/** The resources of a thing with their latest values, updated live, and one resource over time. */
export function Resources({ signedIn, thingId, values }: ResourcesProps) {
  if (values?.isComplete.value) return <ResourcesOf {...{ signedIn, thingId, values }} />
  return (
    <section class="card opening">
      <p class="muted loading">Loading…</p>
    </section>
  )
}

function ResourcesOf({ signedIn, thingId, values }: ResourcesProps & { readonly values: LatestValues }) {
  const [filter, setFilter] = useState('')
  const [showsHidden, setShowsHidden] = useState(false)
  const { view, wasChosen, setChosen, setShown } = useViewInAddress(thingId)
  const { resourceKey: chosen, shown } = view
  const keys = values.keys.value
  // Chosen only once, so that later values do not change the shown resource.
  const first = useRef<string>(undefined)
  const visible = keys.filter(key => !values.descriptionOf(key).hidden)
  if (first.current === undefined || !keys.includes(first.current)) {
    first.current = firstKey(visible.length > 0 ? visible : keys, key => values.of(key)?.peek())
  }
  const selected = chosen !== undefined && keys.includes(chosen) ? chosen : first.current
  const sought = filter.toLowerCase()
  const matching = (showsHidden || sought !== '' ? keys : visible).filter(key =>
    `${values.descriptionOf(key).name ?? ''} ${key}`.toLowerCase().includes(sought),
  )
  return (
    <>
      {selected !== undefined && values.of(selected) && (
        <SelectedResource
          key={selected}
          {...{ signedIn, thingId, values }}
          resourceKey={selected}
          wasChosen={wasChosen}
          chosen={shown}
          onChoose={setShown}
        />
      )}
      <section class="card" aria-labelledby="resources-heading">
        <div class="card-head">
          <h2 id="resources-heading">Readings</h2>
          <span class="muted">
            {keys.length} {keys.length === 1 ? 'key' : 'keys'}
          </span>
          <input
            type="search"
            placeholder="Filter"
            aria-label="Filter by name or key"
            value={filter}
            onInput={event => setFilter(event.currentTarget.value)}
          />
        </div>
        {keys.length === 0 ? (
          <NoResources thingId={thingId} hasPosition={values.position.value !== undefined} />
        ) : (
          <table class="resources">
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Latest value</th>
                <th scope="col" class="trend">
                  Trend
                </th>
                <th scope="col" class="numeric">
                  Age
                </th>
              </tr>
            </thead>
            <tbody>
              {matching.slice(0, shownRows).map(key => (
                <ResourceRow
                  key={key}
                  {...{ signedIn, thingId, values }}
                  resourceKey={key}
                  isSelected={key === selected}
                  onSelect={setChosen}
                />
              ))}
            </tbody>
          </table>
        )}
        {matching.length > shownRows && (
          <p class="muted">{matching.length - shownRows} more. Filter to see them.</p>
        )}
        {sought !== '' && matching.length === 0 && <p class="muted">No name or key contains “{filter}”.</p>}
        {sought === '' && visible.length < keys.length && (
          <p>
            <button type="button" aria-expanded={showsHidden} onClick={() => setShowsHidden(!showsHidden)}>
              {showsHidden ? 'Hide' : 'Show'} {keys.length - visible.length} hidden
            </button>
          </p>
        )}
      </section>
    </>
  )
}

/** The view in the address. The view changes with the address, and the address changes when the user chooses another view. */
function useViewInAddress(thingId: string) {
  const [view, setView] = useState<View>(() => viewOf(location.hash))
  // The page scrolls to a resource that was chosen in the table, but not to a resource in the address.
  const [wasChosen, setWasChosen] = useState(false)
  const setChosen = useCallback((resourceKey: string) => {
    setWasChosen(true)
    setView(before => ({ ...before, resourceKey }))
  }, [])
  const setShown = useCallback((change: (before: TimeWindow | undefined) => TimeWindow) => {
    setView(before => ({ ...before, shown: change(before.shown) }))
  }, [])
  useEffect(() => {
    const follow = () => {
      // The address is of another page, which will replace this page.
      if (hashWith(location.hash, {}) !== thingHash(thingId)) return
      setWasChosen(false)
      setView(viewOf(location.hash))
    }
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [thingId])
  // Before the browser paints, so that a reload at any time shows the same view.
  useLayoutEffect(() => {
    if (view.resourceKey === undefined && view.shown === undefined) return
    // `thingHash` and not the current hash, because the page of a signed-in thing is also at the root.
    history.replaceState(history.state, '', hashWith(thingHash(thingId), view))
  }, [view, thingId])
  return { view, wasChosen, setChosen, setShown }
}

function NoResources({ thingId, hasPosition }: { readonly thingId: string; readonly hasPosition: boolean }) {
  if (hasPosition) return <p class="muted">The thing has written its position alone.</p>
  return (
    <p class="muted">
      Nothing has arrived yet. <a href={`#/things/${thingId}/connect`}>Connect your device</a>. Its readings
      appear here at once.
    </p>
  )
}
