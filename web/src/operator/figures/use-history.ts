import { useEffect, useState } from 'preact/hooks'
import { addressOf } from '../../api/address.ts'
import { hearDate, serverTime } from '../../time/clock.ts'
import { type History, noHistory, withSample } from './history.ts'
import { Metrics } from './metrics.ts'

/** Milliseconds between two measurements. */
export const pollInterval = 5_000

interface Polled {
  readonly history: History
  /** Why the newest measurement is missing. */
  readonly problem: string | undefined
}

/** Asks for the metrics every five seconds, while the page is in sight. */
export function useHistory(credential: string): Polled {
  const [history, setHistory] = useState(noHistory)
  const [problem, setProblem] = useState<string>()

  useEffect(() => {
    const abort = new AbortController()
    // By timers: a clock that is set back would end all asking.
    let asked = Number.NEGATIVE_INFINITY
    const poll = async () => {
      // A timer that was held back in the background, or an answer that takes long, is no reason to ask twice.
      if (document.hidden || performance.now() - asked < pollInterval / 2) return
      asked = performance.now()
      try {
        const metrics = await fetchMetrics(credential, abort.signal)
        setHistory(before => withSample(before, metrics))
        setProblem(undefined)
      } catch (error) {
        if (!abort.signal.aborted) setProblem(error instanceof Error ? error.message : String(error))
      }
    }
    void poll()
    const timer = setInterval(poll, pollInterval)
    document.addEventListener('visibilitychange', poll)
    return () => {
      abort.abort()
      clearInterval(timer)
      document.removeEventListener('visibilitychange', poll)
    }
  }, [credential])

  return { history, problem }
}

async function fetchMetrics(credential: string, signal: AbortSignal): Promise<Metrics> {
  const asked = Date.now()
  const answer = await fetch(addressOf('/metrics'), {
    headers: { authorization: `Bearer ${credential}` },
    cache: 'no-store',
    signal: AbortSignal.any([signal, AbortSignal.timeout(2 * pollInterval)]),
  }).catch(() => {
    throw new Error('The server does not answer.')
  })
  hearDate(answer, asked)
  if (!answer.ok) throw new Error(`The server answered ${answer.status} when asked for its figures.`)
  return new Metrics(await answer.text(), serverTime())
}
