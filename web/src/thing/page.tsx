import './page.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/http.ts'
import { fetchThings, type ThingSummary } from '../api/things.ts'
import { lazily } from '../lazily.tsx'
import { useReconnects } from '../live/reconnects.ts'
import { usePageTitle } from '../page-title.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { type LatestValues, watchLatestValues } from './latest-values.ts'
import { RefusedWrites } from './refused-writes.tsx'
import { Resources } from './resources/resources.tsx'
import { preloadChart } from './resources/selected-resource.tsx'
import { Settings } from './settings.tsx'

const Position = lazily(() => import('./position/position.tsx').then(({ Position }) => Position))

interface ThingPageProps {
  readonly signedIn: SignedIn
  readonly thingId: string
}

/** The page of a thing: its values, position, settings and refused writes. */
export function ThingPage({ signedIn, thingId }: ThingPageProps) {
  const { name, source, problem } = useThing({ signedIn, thingId })
  usePageTitle(name || thingId)
  const values = useLatestValues(signedIn, thingId)
  useEffect(preloadChart, [])
  const { principal } = signedIn
  // A session that may only read does not get refused writes (contract §7).
  const seesRefused = principal.kind !== 'session' || principal.access === 'write'
  if (problem !== undefined) {
    return (
      <p class="notice" role="status">
        {problem} <a href="#/">{principal.kind === 'thing' ? 'To your own page' : 'Back to the list'}</a>
      </p>
    )
  }
  return (
    <>
      <div class={name === undefined ? 'thing-head opening' : 'thing-head'}>
        <h1>{name || thingId}</h1>
        {name !== undefined && name !== '' && <code class="muted">{thingId}</code>}
        {source && (
          <span class="muted breakable">
            Device <code>{source.device}</code>
          </span>
        )}
        <a class="button" href={`#/things/${thingId}/connect`}>
          Connect your device
        </a>
      </div>
      {source?.isGone && (
        <p class="notice" role="status">
          The device is gone: it announced that it was removed. Its readings stay.
        </p>
      )}
      <div class="thing-page">
        <div class="column">
          <Resources signedIn={signedIn} thingId={thingId} values={values} />
        </div>
        <div class="column">
          <Position signedIn={signedIn} thingId={thingId} values={values} />
          {seesRefused && <RefusedWrites signedIn={signedIn} thingId={thingId} />}
          <Settings signedIn={signedIn} thingId={thingId} />
        </div>
      </div>
    </>
  )
}

function useLatestValues({ api, live }: SignedIn, thingId: string): LatestValues | undefined {
  const [values, setValues] = useState<LatestValues>()
  useEffect(() => {
    const watched = watchLatestValues(api, live, thingId)
    setValues(watched)
    return watched.close
  }, [api, live, thingId])
  return values
}

const gone = 'There is no such thing any more.'
const unknown = 'There is no such thing, or you may not see it.'

/** Milliseconds between reads of the thing. There is no message when a thing is deleted or renamed. */
const refreshInterval = 10_000

/** The name of the thing, undefined while not known. `problem` is set if the principal cannot see such a thing. */
function useThing({ signedIn, thingId }: ThingPageProps): {
  readonly name: string | undefined
  readonly source: ThingSummary['source']
  readonly problem: string | undefined
} {
  const { principal, api, live } = signedIn
  const own = principal.kind === 'thing' && principal.thingId === thingId ? principal.name : undefined
  const [name, setName] = useState(own)
  const [source, setSource] = useState<ThingSummary['source']>()
  const [problem, setProblem] = useState<string>()
  const wasThere = useRef(false)
  const reconnects = useReconnects(live)
  useEffect(() => {
    if (own !== undefined) return
    const abort = new AbortController()
    const ask = async () => {
      try {
        const [thing] = (await fetchThings(api, { thingId }, abort.signal)).things
        setProblem(thing ? undefined : wasThere.current ? gone : unknown)
        if (!thing) return
        wasThere.current = true
        setName(thing.name)
        setSource(thing.source)
      } catch (error) {
        // If the page is already shown, it stays, as it does without a connection.
        if (error instanceof ApiError && !wasThere.current) setProblem(error.message)
      }
    }
    void ask()
    const refresh = setInterval(() => document.hidden || void ask(), refreshInterval)
    return () => {
      clearInterval(refresh)
      abort.abort()
    }
  }, [api, thingId, own, reconnects])
  return { name, source, problem }
}
