import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startMosquitto } from './mosquitto.ts'
import { type Peer, ProgramMissing } from './peer.ts'
import { Program } from './program.ts'

/** mosquitto and a subscriber that stores what it relays: what people build themselves. */
export interface StoringPeer extends Peer {
  /** Rows that are committed, as far as the subscriber has said. */
  stored(): number
  /**
   * Waits until so many rows are committed.
   * @throws Error if no row is added for some seconds, or the subscriber ends
   */
  untilStored(rows: number): Promise<void>
}

export interface Subscription {
  /** Beside this file. Gets the port of mosquitto and `place`, prints `ready`, then how many rows are committed. */
  readonly program: string
  readonly place: string
}

/**
 * The system's own, whose packages apt installs; another may come before it in PATH. Python, since Node 20 needs packages
 * for SQLite and PostgreSQL.
 */
const python = '/usr/bin/python3'
/** Milliseconds. */
const patience = 10_000

export async function startStoringPeer({ program, place }: Subscription): Promise<StoringPeer> {
  const mosquitto = await startMosquitto()
  const path = fileURLToPath(new URL(program, import.meta.url))
  // -B: leaves no compiled files among the sources.
  const args = ['-B', path, String(mosquitto.port), place]
  const subscriber = await Program.start({ command: python, args, aptPackage: 'python3' })
  let rows = 0
  const stop = async () => {
    await subscriber.stop()
    await mosquitto.stop()
  }
  try {
    await subscriber.firstLine()
  } catch (error) {
    await stop()
    if (!subscriber.errors.includes("No module named 'paho'")) throw error
    throw new ProgramMissing('paho of Python is not installed: apt install python3-paho-mqtt')
  }
  subscriber.onLine = line => {
    rows = Number(line)
  }
  return {
    port: mosquitto.port,
    processes: { ...mosquitto.processes, subscriber: subscriber.processId },
    stored: () => rows,
    untilStored: async wanted => {
      let seen = rows
      for (let since = performance.now(); rows < wanted; ) {
        await delay(2)
        if (rows > seen) since = performance.now()
        seen = rows
        if (performance.now() - since > patience)
          throw new Error(`only ${rows} of ${wanted} rows were stored: ${subscriber.errors}`)
      }
    },
    stop,
  }
}
