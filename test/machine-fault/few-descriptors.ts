import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { createThing, write } from '../helpers/http-client.ts'
import { HttpConnection } from '../helpers/http-connection.ts'
import { startServer } from '../helpers/server-process.ts'

interface FewDescriptors {
  /** Connections that were open to both doors when all had been tried. */
  readonly open: number
  /** Status codes of large writes meanwhile, and how many logs of LevelDB they went through. */
  readonly statuses: readonly number[]
  readonly logs: number
  /** Lines of the log about it. */
  readonly lines: readonly string[]
  /** Errors of the store, or of a descriptor that there was not. */
  readonly failures: readonly string[]
}

/** Comes to a server with more connections than it has descriptors, and writes so much that the store needs new files. */
export async function connectManyTo(
  dataDir: string,
  descriptors: number,
  connections: number,
): Promise<FewDescriptors> {
  const server = await startServer({ dataDir, descriptors })
  const sockets: Socket[] = []
  try {
    const thing = await createThing(server)
    // It is there before all others.
    const kept = new HttpConnection(server.url)
    const path = `/v2/things/${thing.thingToken}`
    const statuses = [(await kept.post(path, '{"values":[{"key":"n","value":0}]}')).status]
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
    for (let number = 0; number < 60; number++) statuses.push((await kept.post(path, body)).status)
    const logs = (await newestLog(dataDir)) - first
    const stillOpen = open
    for (const socket of sockets) socket.destroy()
    kept.close()
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
