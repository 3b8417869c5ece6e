import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

export interface ServerChild {
  readonly url: string
  readonly adminKey: string
  /** Resident memory of the server now, bytes; Linux only. */
  residentMemory(): number
  stop(): Promise<void>
}

export async function startServerChild(dataDir: string): Promise<ServerChild> {
  const child: ChildProcess = fork(new URL('serve.ts', import.meta.url), [dataDir], {
    execArgv: ['--import', 'tsx'],
  })
  const [ready] = (await once(child, 'message')) as [{ url: string; adminKey: string }]
  return {
    ...ready,
    residentMemory: () => {
      const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
      return Number(kilobytes) * 1024
    },
    stop: async () => {
      const exit = once(child, 'exit')
      child.send('stop')
      await exit
    },
  }
}
