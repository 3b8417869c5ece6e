import type { ReachProblem } from './host.ts'

/** Shows why another device may not be able to reach the server. */
export function ReachNotice({ problem }: { readonly problem: ReachProblem | undefined }) {
  if (!problem) return null
  return (
    <p class="notice">
      {problem.text} {problem.command !== undefined && <code class="command">{problem.command}</code>}
    </p>
  )
}
