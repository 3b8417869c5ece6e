import { Child } from '../helpers/child.ts'

export interface RunningExample {
  /** What the line that was waited for captured. */
  readonly ready: readonly string[]
  /** Resolves when stderr holds a match. @throws Error with the output if the process ends before */
  told(pattern: RegExp): Promise<unknown>
  /** SIGTERM. @returns the exit status, and all that was written to stderr */
  stop(): Promise<{ readonly code: number | null; readonly stderr: string }>
  /** SIGKILL. @returns all that was written to stdout and stderr */
  kill(): Promise<string>
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
  const env = { ...process.env, ...environment }
  const child = new Child(process.execPath, ['--import', 'tsx', `examples/${script}`, ...args], { env })
  const [, ...ready] = await child.until('stdout', new RegExp(readyLine, 'm'))
  const stop = async () => {
    const { code, stderr } = await child.end('SIGTERM')
    return { code, stderr }
  }
  const kill = async () => {
    const { stdout, stderr } = await child.end('SIGKILL')
    return stdout + stderr
  }
  return { ready, told: pattern => child.until('stderr', pattern), stop, kill }
}
