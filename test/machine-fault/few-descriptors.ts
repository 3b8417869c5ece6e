import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { createThing, write } from '../helpers/http-client.ts'
import { startServer } from '../helpers/server-process.ts'

export interface FewDescriptors {
  /** Connections that were open to both doors when all had been tried. */
  readonly open: number
  /** Status codes of large writes meanwhile, and how many logs of LevelDB they went through. */
  readonly statuses: readonly number[]
  readonly logs: number
  /** Lines of the log that say it. */
  readonly lines: readonly string[]
  /** Errors of the store, or of a descriptor that there was not. */
  readonly failures: readonly string[]
}

/** Comes to a server with more connections than it has descriptors, and writes so much that the store needs new files. */
export async function crowd(
  dataDir: string,
  descriptors: number,
  connections: number,
): Promise<FewDescriptors> {
  const server = await startServer({ dataDir, descriptors })
  const sockets: Socket[] = []
  try {
    const thing = await createThing(server)
    const agent = await KeptConnection.open(server.url)
    const ports = [server.url, server.mqttUrl].map(url => Number(new URL(url).port))
    let open = 0
    for (let number = 0; number < connections; number++) {
      const socket = connect({ port: ports[number % 2] ?? 0, host: '127.0.0.1' })
      sockets.push(socket)
      socket.on('error', () => {})
      await once(socket, 'connect')
      open++
      socket.once('close', () => open--)
    }
    const value = 'x'.repeat(60_000)
    const body = JSON.stringify({ values: Array.from({ length: 15 }, () => ({ key: 'n', value })) })
    const first = await newestLog(dataDir)
    const statuses: number[] = []
    for (let number = 0; number < 60; number++) {
      statuses.push(await agent.post(`/v2/things/${thing.thingToken}`, body))
    }
    const logs = (await newestLog(dataDir)) - first
    const stillOpen = open
    for (const socket of sockets) socket.destroy()
    agent.close()
    const after = await write(server, thing, { values: [{ key: 'n', value: 1 }] })
    statuses.push(after.status)
    const { stderr } = await server.stop()
    const lines = stderr.split('\n').filter(line => line.includes('connections are turned away'))
    const failures = stderr.split('\n').filter(line => /EMFILE|too many open files|store_/i.test(line))
    return { open: stillOpen, statuses, logs, lines, failures }
  } finally {
    for (const socket of sockets) socket.destroy()
    await server.kill()
  }
}

async function newestLog(dataDir: string): Promise<number> {
  const numbers = (await readdir(`${dataDir}/store`))
    .filter(name => name.endsWith('.log'))
    .map(name => Number.parseInt(name, 10))
  return Math.max(...numbers)
}

/** One connection to the HTTP door, which was there before all others. */
class KeptConnection {
  readonly #socket: Socket
  readonly #host: string

  private constructor(socket: Socket, host: string) {
    this.#socket = socket
    this.#host = host
  }

  static async open(url: string): Promise<KeptConnection> {
    const { hostname, port, host } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port) })
    await once(socket, 'connect')
    return new KeptConnection(socket, host)
  }

  /** @returns the status */
  async post(path: string, body: string): Promise<number> {
    const answered = once(this.#socket, 'data')
    const head = `POST ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
    this.#socket.write(head + body)
    const [bytes] = (await answered) as [Buffer]
    return Number(bytes.toString('latin1', 9, 12))
  }

  close(): void {
    this.#socket.destroy()
  }
}
