import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../api/http.ts'
import { listUnread } from '../api/sources.ts'
import type { ThingSummary } from '../api/things.ts'
import { thingHash } from '../route.ts'
import type { RefusedWrite } from '../thing/refused-write.ts'
import { fetchAllThings } from '../things/all-things.ts'

interface NewThingsProps {
  readonly api: Api
  readonly sourceId: string
}

/** Milliseconds between two reads. There is no message when a source makes a thing. */
const interval = 1_000
const shownThings = 20

/** Waits for the first message of a new source, then shows the things that it makes, and what it cannot read. */
export function NewThings({ api, sourceId }: NewThingsProps) {
  const { things, unread } = useArrivals(api, sourceId)
  return (
    <>
      <div role="status">
        {things.length === 0 && <p>Waiting for the first message…</p>}
        {things.length > 0 && <p>{things.length === 1 ? '1 new thing:' : `${things.length} new things:`}</p>}
        <ul>
          {things.slice(0, shownThings).map(({ thingId, name }) => (
            <li key={thingId} class="breakable">
              <a href={thingHash(thingId)}>{name || 'unnamed'}</a>
            </li>
          ))}
        </ul>
      </div>
      {unread && <p class="problem breakable">Not read: {unread.message}</p>}
    </>
  )
}

function useArrivals(api: Api, sourceId: string) {
  const [things, setThings] = useState<readonly ThingSummary[]>([])
  const [unread, setUnread] = useState<RefusedWrite>()
  useEffect(() => {
    const abort = new AbortController()
    let isAsking = false
    const ask = async () => {
      if (isAsking || document.hidden) return
      isAsking = true
      try {
        setThings((await fetchAllThings(api, { source: sourceId }, abort.signal)).things)
        setUnread((await listUnread(api, sourceId, 1))[0])
      } catch {
        // Asked again in a second. Without a connection, the bar above the page says so.
      } finally {
        isAsking = false
      }
    }
    void ask()
    const timer = setInterval(() => void ask(), interval)
    return () => {
      clearInterval(timer)
      abort.abort()
    }
  }, [api, sourceId])
  return { things, unread }
}
