import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface RunningExample {
  /** What the line that was waited for captured. */
  readonly ready: readonly string[]
  /** SIGTERM. @returns the exit status, and all that was written to stderr */
  stop(): Promise<{ readonly code: number | null; readonly stderr: string }>
}

/**
 * Runs an example as a process of its own until it prints a line that says it is ready. Whoever runs it ends it.
 *
 * @param script path in examples/
 * @throws Error with what it wrote to stderr if it ends before
 */
export async function runExample(
  script: string,
  args: readonly string[],
  readyLine: RegExp,
  environment: NodeJS.ProcessEnv = {},
): Promise<RunningExample> {
  const child = spawn(process.execPath, ['--import', 'tsx', `examples/${script}`, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    stderr += part
  })
  const closed = once(child, 'close').then(([code]: (number | null)[]) => ({ code: code ?? null, stderr }))
  for await (const line of createInterface({ input: child.stdout })) {
    const match = readyLine.exec(line)
    if (!match) continue
    child.stdout.resume()
    return {
      ready: match.slice(1),
      stop: () => {
        child.kill('SIGTERM')
        return closed
      },
    }
  }
  throw new Error(`${script} ended before it was ready: ${JSON.stringify(await closed)}`)
}
