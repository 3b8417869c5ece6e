import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface Running {
  readonly input?: string
  /** Resolves when its input may end. Default: at once. */
  readonly done?: Promise<unknown>
  readonly onLine?: (line: string) => void
}

/** Runs a program to its end. @throws Error unless it ends with status 0 */
export async function runProgram(
  command: string,
  args: readonly string[],
  { input = '', done = Promise.resolve(), onLine = () => {} }: Running = {},
): Promise<void> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    errors += part
  })
  createInterface({ input: child.stdout }).on('line', onLine)
  child.stdin.on('error', () => {}).write(input)
  done.then(
    () => child.stdin.end(),
    () => child.kill(),
  )
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${command} ended with status ${code}: ${errors}`)
}
