import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/http.ts'

interface Action {
  readonly isBusy: boolean
  /** Why the last action failed. */
  readonly problem: string | undefined
  /** Runs an action. Ignores the call while another action runs. */
  run(action: () => Promise<void>): Promise<void>
}

/** Runs actions of the user, one at a time. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const running = useRef(false)
  return {
    isBusy,
    problem,
    async run(action) {
      if (running.current) return
      running.current = true
      setBusy(true)
      setProblem(undefined)
      try {
        await action()
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        setProblem(error.message)
      } finally {
        running.current = false
        setBusy(false)
      }
    },
  }
}
