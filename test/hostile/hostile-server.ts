import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ask, type Thing } from '../helpers/http-client.ts'
import { type ServerProcess, startServer } from '../helpers/server-process.ts'
import { allowedOrigin, type Target } from './http/case.ts'

const program = fileURLToPath(new URL('measured-server.ts', import.meta.url))

/**
 * The limits of contract §9 are no subject here, and would refuse most of what is sent, before anything looks at it.
 */
const environment = {
  THINGWIRE_ALLOWED_ORIGINS: allowedOrigin,
  THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
  THINGWIRE_WRITES_PER_SECOND: '1000000',
  THINGWIRE_RECORDS_PER_SECOND: '100000000',
  THINGWIRE_TOPICS: 'house/#',
}

/** Topics beside those of things, for every thing: what is sent there is looked at, too. */
const topicGrants = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
] as const

export interface Condition {
  /** Bytes of the heap, once the garbage is collected, that are not compiled code. */
  readonly data: number
  /** Bytes of the heap that are compiled code: what was never run before is compiled, and compiled again when it is hot. */
  readonly code: number
  /** Bytes. */
  readonly external: number
  /** Longest time for which its event loop did not go round since it was last asked, milliseconds. */
  readonly longestBlock: number
}

export type HostileServer = Awaited<ReturnType<typeof startHostileServer>>

/** A server in a process of its own that is fed everything, and how it bears it. */
export async function startHostileServer() {
  const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-hostile-'))
  const server = await startServer({ dataDir, program, environment })
  let log = ''
  server.process.stderr?.on('data', (part: string) => {
    log += part
  })
  const createThing = () => ask<Thing>(server, 'POST', '/v2/admin/things', { topics: topicGrants })
  const createTarget = async (): Promise<Target> => {
    return { thing: await createThing(), other: await createThing(), adminKey: server.adminKey }
  }
  return {
    server,
    /** What the placeholders of the tables stand for. */
    target: await createTarget(),
    /** What those of mutated input stand for. */
    mutated: await createTarget(),
    /** Of whom nothing but good requests come, one for each door. */
    healthy: [await createThing(), await createThing()] as const,
    condition: () => conditionOf(server),
    /** What the log says so far of defects: lines at the level `error`, or above. */
    defects: () => log.split('\n').filter(line => /"level":[56]0|^\S*Error|^ {4}at /.test(line)),
    /** Stops it and removes its data. */
    end: async () => {
      const exit = await server.stop()
      await rm(dataDir, { recursive: true, force: true })
      return exit
    },
  }
}

async function conditionOf({ process, exited }: ServerProcess): Promise<Condition> {
  let text = ''
  const told = new Promise<Condition>(resolve => {
    process.stdout?.on('data', function take(part: string) {
      text += part
      const json = /^standing (\{.*\})$/m.exec(text)?.[1]
      if (json === undefined) return
      process.stdout?.off('data', take)
      resolve(JSON.parse(json) as Condition)
    })
  })
  process.kill('SIGUSR2')
  const gone = exited.then(({ code, signal }) =>
    Promise.reject(new Error(`the server ended: ${code ?? signal}`)),
  )
  return await Promise.race([told, gone])
}
