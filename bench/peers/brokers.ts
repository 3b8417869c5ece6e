import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/helpers/redis-server.ts'
import { eventually } from '../../test/helpers/waiting.ts'
import { firstLineOf, host, idOf, type Peer, ProgramMissing, startProgram, startScript } from './peer.ts'
import { startPostgres } from './postgres.ts'

/** Programs that the product is held against: bare libraries, mosquitto, and what people build around it. */

export async function startBare(library: 'aedes' | 'fastify'): Promise<Peer> {
  const program = await startScript(new URL('bare-child.ts', import.meta.url), [library])
  const port = Number(await firstLineOf(program))
  return {
    port,
    httpPort: port,
    processes: { [library]: idOf(program) },
    stop: async () => void (await program.end('SIGTERM')),
  }
}

/** Nothing is stored, logged or dropped; 0 is no limit. */
const configuration = (port: number) => `listener ${port} ${host}
allow_anonymous true
persistence false
max_inflight_messages 0
max_queued_messages 0
log_type none
`

export async function startMosquitto(): Promise<Peer> {
  const directory = await mkdtemp(join(tmpdir(), 'thingwire-mosquitto-'))
  const path = join(directory, 'mosquitto.conf')
  const port = await freePort()
  await writeFile(path, configuration(port))
  try {
    const args = ['-c', path]
    const program = await startProgram({ command: 'mosquitto', args, aptPackage: 'mosquitto' })
    if (!(await eventually(() => canConnect(port)))) throw new Error('mosquitto is not ready')
    return {
      port,
      processes: { mosquitto: idOf(program) },
      stop: async () => void (await program.end('SIGTERM')),
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, host)
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isOpen
}

/** mosquitto and a subscriber of QoS 1 that stores what it relays. */
export interface StoringPeer extends Peer {
  /** Rows that are committed, as far as the subscriber has reported. */
  stored(): number
  /** Waits until so many rows are committed. @throws Error if no row is added for some seconds */
  untilStored(rows: number): Promise<void>
}

/** 1,000 messages or 100 ms a commit. */
export async function startMosquittoSqlite(parent: string): Promise<StoringPeer> {
  const directory = await mkdtemp(join(parent, 'sqlite-'))
  const remove = () => rm(directory, { recursive: true })
  return await startStoring('sqlite', join(directory, 'records.sqlite'), {}, remove)
}

/** An INSERT a message. */
export async function startMosquittoPostgres(parent: string): Promise<StoringPeer> {
  const postgres = await startPostgres(parent)
  const processes = { postgres: postgres.processId }
  return await startStoring('postgres', postgres.connectionString, processes, () => postgres.stop())
}

/**
 * The system's own, whose packages apt installs; another may come before it in PATH. Python, since Node 20 needs packages
 * for SQLite and PostgreSQL.
 */
const python = '/usr/bin/python3'
/** Milliseconds. */
const patience = 10_000

async function startStoring(
  database: 'sqlite' | 'postgres',
  place: string,
  processes: Peer['processes'],
  remove: () => Promise<void>,
): Promise<StoringPeer> {
  const mosquitto = await startMosquitto()
  const path = fileURLToPath(new URL('storing_subscriber.py', import.meta.url))
  // -B: leaves no compiled files among the sources.
  const args = ['-B', path, database, String(mosquitto.port), place]
  const subscriber = await startProgram({ command: python, args, aptPackage: 'python3' })
  let output = ''
  subscriber.process.stdout?.on('data', (part: string) => {
    output = (output + part).slice(-100)
  })
  const stored = () => Number(/(\d+)\n\D*$/.exec(output)?.[1] ?? 0)
  const stop = async () => {
    await subscriber.end('SIGTERM')
    await mosquitto.stop()
    await remove()
  }
  try {
    await firstLineOf(subscriber)
  } catch (error) {
    await stop()
    if (!String(error).includes("No module named 'paho'")) throw error
    throw new ProgramMissing('paho of Python is not installed: apt install python3-paho-mqtt')
  }
  return {
    port: mosquitto.port,
    processes: { ...mosquitto.processes, subscriber: idOf(subscriber), ...processes },
    stored,
    untilStored: async wanted => {
      let seen = stored()
      for (let since = performance.now(); stored() < wanted; await delay(2)) {
        if (stored() > seen) since = performance.now()
        seen = stored()
        if (performance.now() - since > patience)
          throw new Error(`only ${seen} of ${wanted} rows were stored`)
      }
    },
    stop,
  }
}
