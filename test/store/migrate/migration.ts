import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const tsx = import.meta.resolve('tsx')

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export type Step = 'moved' | 'verified'

/** What a line of progress says, such as `moved 1,000 of 2,000 records (50 %), 900 a second`. */
const progress = /^(moved|verified) .* \((\d+) %\)/

/** When it is killed, percent of what it is to do. */
const killedAt = 50

/** `thingwire migrate`, SIGKILLed in the middle of a step. Its progress goes to stderr. */
export async function killedMigration(
  dataDir: string,
  url: string,
  step: Step,
): Promise<{ readonly isKilled: boolean; readonly share: number }> {
  const { child, exited } = launch(dataDir, url)
  let share = 0
  for await (const line of createInterface(child.stderr)) {
    console.error(line)
    const [, of, percent] = progress.exec(line) ?? []
    if (of !== step) continue
    share = Number(percent)
    if (share >= killedAt) child.kill('SIGKILL')
  }
  const { signal } = await exited
  return { isKilled: signal === 'SIGKILL' && share < 100, share }
}

/** `thingwire migrate`, to its end. @returns with the share that was moved when it began, percent */
export async function migration(
  dataDir: string,
  url: string,
): Promise<{
  readonly code: number | null
  readonly stdout: string
  readonly firstShare: number | undefined
}> {
  const { child, exited } = launch(dataDir, url)
  let stdout = ''
  child.stdout.on('data', (part: Buffer) => {
    stdout += part.toString()
  })
  let firstShare: number | undefined
  for await (const line of createInterface(child.stderr)) {
    console.error(line)
    const [, of, percent] = progress.exec(line) ?? []
    if (of === 'moved') firstShare ??= Number(percent)
  }
  const { code } = await exited
  return { code, stdout, firstShare }
}

function launch(dataDir: string, url: string) {
  const environment = { ...process.env, THINGWIRE_REDIS_URL: url }
  const args = ['--import', tsx, cli, 'migrate', '--data-dir', dataDir]
  const child = spawn(process.execPath, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }))
  return { child, exited }
}
