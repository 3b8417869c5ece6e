import { useEffect, useState } from 'preact/hooks'
import type { SignedIn } from '../../session/signed-in.ts'
import { serverTime } from '../../time/clock.ts'
import { Age } from '../../time/moment.tsx'
import { receivedText, refusedText } from './arrival.ts'

interface ArrivalsProps {
  readonly signedIn: SignedIn
  readonly thingId: string
}

interface Arrival {
  readonly text: string
  /** Milliseconds since the epoch, by the server's clock. */
  readonly at: number
}

/** Milliseconds between two changes of the line. If a device writes often, faster changes could not be read. */
const interval = 500

/** Shows that a write of the thing arrived, or why it was refused. Most devices cannot show this themselves. */
export function Arrivals({ signedIn, thingId }: ArrivalsProps) {
  const arrival = useLastArrival(signedIn, thingId)
  return (
    <p class="arrival">
      <span role="status">
        {arrival?.text ?? 'Nothing has arrived since you opened this page. New readings appear here.'}
      </span>
      {arrival && (
        <>
          , <Age milliseconds={arrival.at} />
        </>
      )}
    </p>
  )
}

function useLastArrival({ live, principal }: SignedIn, thingId: string): Arrival | undefined {
  const [shown, setShown] = useState<Arrival>()
  // A session that may only read does not get refused writes (contract §7).
  const seesRefused = principal.kind !== 'session' || principal.access === 'write'
  useEffect(() => {
    let last: Arrival | undefined
    const add = (text: string | undefined) => {
      if (text !== undefined) last = { text, at: serverTime() }
    }
    const unsubscribes = [
      live.subscribe(`things/${thingId}/values/#`, (topic, payload, isRetained) =>
        add(receivedText(topic, payload, isRetained)),
      ),
      ...(seesRefused
        ? [live.subscribe(`things/${thingId}/errors`, (_topic, payload) => add(refusedText(payload)))]
        : []),
    ]
    const timer = setInterval(() => setShown(last), interval)
    return () => {
      clearInterval(timer)
      for (const unsubscribe of unsubscribes) unsubscribe()
    }
  }, [live, seesRefused, thingId])
  return shown
}
