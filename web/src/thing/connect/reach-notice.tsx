import type { ReachProblem } from './host.ts'

/** Why another device may not reach the server, if so. */
export function ReachNotice({ problem }: { readonly problem: ReachProblem | undefined }) {
  if (!problem) return null
  return (
    <p class="notice">
      {problem.text} {problem.command !== undefined && <code class="command">{problem.command}</code>}
    </p>
  )
}
