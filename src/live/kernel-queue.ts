import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

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
export async function kernelQueue(socket: Socket): Promise<string | undefined> {
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
