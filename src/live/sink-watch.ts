import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'

/** Number of checks of a sink within `drainTimeout`. */
const looksPerTimeout = 10

interface SinkWatchParts {
  readonly sink: Writable
  /** The socket under the sink, if there is one. */
  readonly socket: Socket | undefined
  /** How long the sink may accept no bytes before `onStuck` is called, milliseconds. */
  readonly drainTimeout: number
  readonly onStuck: (why: string) => void
}

/** Checks a sink until the sink is empty, and reports if it accepts no bytes. */
export class SinkWatch {
  readonly #parts: SinkWatchParts
  #look: NodeJS.Timeout | undefined
  /** Number of consecutive checks without progress. Used instead of a time, since a paused process gets no `drain` events. */
  #looksInVain = 0
  /** Bytes in the sink at the last check. */
  #inSink = 0
  #inKernel: string | undefined

  constructor(parts: SinkWatchParts) {
    this.#parts = parts
    parts.sink.on('drain', this.#onDrain)
  }

  /** Starts checking, unless the sink is empty or is already being checked. */
  begin(): void {
    const { sink, drainTimeout } = this.#parts
    if (this.#look || sink.writableLength === 0) return
    this.#looksInVain = 0
    this.#inSink = sink.writableLength
    this.#inKernel = undefined
    this.#look = setInterval(() => this.#lookAtSink(), drainTimeout / looksPerTimeout)
    this.#look.unref()
  }

  end(): void {
    clearInterval(this.#look)
    this.#parts.sink.removeListener('drain', this.#onDrain)
  }

  readonly #onDrain = (): void => {
    this.#looksInVain = 0
  }

  #lookAtSink(): void {
    const { sink, drainTimeout, onStuck } = this.#parts
    const inSink = sink.writableLength
    const stands = inSink >= this.#inSink
    this.#looksInVain = stands ? this.#looksInVain + 1 : 0
    this.#inSink = inSink
    if (inSink === 0) {
      clearInterval(this.#look)
      this.#look = undefined
    } else if (this.#looksInVain > looksPerTimeout) {
      onStuck(`its socket has accepted nothing for ${drainTimeout} ms`)
    } else if (stands) {
      void this.#lookIntoKernel()
    }
  }

  async #lookIntoKernel(): Promise<void> {
    const { socket } = this.#parts
    const inKernel = socket && (await kernelQueue(socket))
    if (this.#inKernel !== undefined && inKernel !== this.#inKernel) this.#looksInVain = 0
    this.#inKernel = inKernel
  }
}

/** How long a copy of the kernel's tables is used, milliseconds. All stalled connections share the copy. */
const freshFor = 200

/** The kernel's tables of TCP connections (proc_net(5)); only on Linux. */
const tables = ['/proc/net/tcp', '/proc/net/tcp6']

let newest: { readonly at: number; readonly reading: Promise<ReadonlyMap<string, string>> } | undefined

/**
 * The kernel's send queue of a socket, which changes while the peer reads.
 *
 * Node does not show this: `drain` and `writableLength` do not change until a third of the send buffer is free. For a connection
 * with a backlog, a third is more than a megabyte, which takes a slow reader several seconds.
 *
 * @returns undefined if not known
 */
async function kernelQueue(socket: Socket): Promise<string | undefined> {
  const { localPort, remotePort } = socket
  if (localPort === undefined || remotePort === undefined) return undefined
  if (!newest || performance.now() - newest.at > freshFor) {
    newest = { at: performance.now(), reading: readTables() }
  }
  return (await newest.reading).get(nameOf(hex(localPort), hex(remotePort)))
}

/** Send queues by local and remote port. Connections with the same ports share an entry: progress of one counts for all. */
async function readTables(): Promise<ReadonlyMap<string, string>> {
  const queues = new Map<string, string>()
  for (const table of tables) {
    const text = await readFile(table, 'latin1').catch(() => '')
    for (const line of text.split('\n').slice(1)) {
      const [, local = '', remote = '', , queue = ''] = line.trim().split(/\s+/)
      const name = nameOf(portIn(local), portIn(remote))
      queues.set(name, `${queues.get(name) ?? ''} ${queue.split(':')[0]}`)
    }
  }
  return queues
}

function nameOf(localPort: string, remotePort: string): string {
  return `${localPort} ${remotePort}`
}

function portIn(address: string): string {
  return address.slice(address.indexOf(':') + 1)
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}
