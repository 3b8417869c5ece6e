import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'

/** How often a sink that has not taken everything is looked at, as a part of `drainTimeout`. */
const looksPerTimeout = 10

interface SinkWatchParts {
  readonly sink: Writable
  /** The connection under the sink, if it is one. */
  readonly socket: Socket | undefined
  /** How long the sink may take nothing of what it was given, milliseconds. */
  readonly drainTimeout: number
  /** The sink takes nothing. */
  readonly onStuck: (why: string) => void
}

/** Looks at a sink that has not taken everything, until it has, and reports one that takes nothing. */
export class SinkWatch {
  readonly #parts: SinkWatchParts
  #look: NodeJS.Timeout | undefined
  /**
   * How often the sink was looked at since it was seen to take something, and what was in it then. Counted, not measured: after
   * a pause of this process it has still to be heard of what was taken meanwhile.
   */
  #looksInVain = 0
  #inSink = 0
  #inKernel: string | undefined

  constructor(parts: SinkWatchParts) {
    this.#parts = parts
    parts.sink.on('drain', this.#onDrain)
  }

  /** Does nothing if it has begun already. */
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

/** How long what was read is good, milliseconds: the connections that stand are all looked at in one reading. */
const freshFor = 200

/** Tables of the system's TCP connections (proc_net(5)); there are none but on Linux. */
const tables = ['/proc/net/tcp', '/proc/net/tcp6']

let newest: { readonly at: number; readonly reading: Promise<ReadonlyMap<string, string>> } | undefined

/**
 * What the system holds of what was written to a socket: it changes as long as the peer takes something.
 *
 * Node does not show it. Its own signs, `drain` and `writableLength`, stand still until a third of the send buffer is
 * free, which is over a megabyte for a connection with a backlog: some seconds of a slow reader's time.
 *
 * @returns undefined where the system does not say
 */
async function kernelQueue(socket: Socket): Promise<string | undefined> {
  const { localPort, remotePort } = socket
  if (localPort === undefined || remotePort === undefined) return undefined
  if (!newest || performance.now() - newest.at > freshFor) {
    newest = { at: performance.now(), reading: readTables() }
  }
  return (await newest.reading).get(nameOf(hex(localPort), hex(remotePort)))
}

/** Queues by local and remote port. Of two peers with one port there are both: a change of either is taken for one. */
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
