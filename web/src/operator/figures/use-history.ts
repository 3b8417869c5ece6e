import { useEffect, useState } from 'preact/hooks'
import { addressOf } from '../../api/address.ts'
import { hearDate, serverTime } from '../../time/clock.ts'
import { type History, noHistory, withSample } from './history.ts'
import { Metrics } from './metrics.ts'

/** Milliseconds between two samples. */
export const pollInterval = 5_000

interface Polled {
  readonly history: History
  /** Why the newest sample is missing. */
  readonly problem: string | undefined
}

/** Reads the metrics every five seconds while the page is visible. */
export function useHistory(credential: string): Polled {
  const [history, setHistory] = useState(noHistory)
  const [problem, setProblem] = useState<string>()

  useEffect(() => {
    const abort = new AbortController()
    // A time of `performance.now()`, because a clock that is set back would stop the polling.
    let asked = Number.NEGATIVE_INFINITY
    const poll = async () => {
      // A delayed timer or a slow answer must not cause two requests in a row.
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
