import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { createThing, write } from '../helpers/http-client.ts'
import { post } from '../helpers/http-connection.ts'
import { startServer } from '../helpers/server-process.ts'

/**
 * Comes to a server with more connections than it has descriptors, and writes so much that the store needs new files.
 *
 * @returns what is wrong, in words
 */
export async function connectManyTo(
  dataDir: string,
  descriptors: number,
  connections: number,
): Promise<readonly string[]> {
  const server = await startServer({ dataDir, descriptors })
  const sockets: Socket[] = []
  try {
    const thing = await createThing(server)
    // Its connection is there before all others.
    const url = `${server.url}/v2/things/${thing.thingToken}`
    const statuses = [(await post(url, '{"values":[{"key":"n","value":0}]}')).status]
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
    for (let number = 0; number < 60; number++) statuses.push((await post(url, body)).status)
    const logs = (await newestLog(dataDir)) - first
    const kept = open
    for (const socket of sockets) socket.destroy()
    statuses.push((await write(server, thing, { values: [{ key: 'n', value: 1 }] })).status)
    const lines = (await server.stop()).stderr.split('\n')
    const turnedAway = lines.filter(line => line.includes('refusing connections'))
    const isNamed = /this process has descriptors for only \d+ .*ulimit -n/.test(turnedAway[0] ?? '')
    return [
      ...statuses.filter(status => status !== 201).map(status => `a write was answered with ${status}`),
      ...(logs > 0 ? [] : ['the store needed no new log']),
      ...(kept > 0.4 * descriptors && kept < 0.8 * descriptors ? [] : [`${kept} connections were kept`]),
      ...(turnedAway.length === 1 && isNamed ? [] : [`the log has ${turnedAway.length} lines about it`]),
      ...lines.filter(line => /EMFILE|too many open files|store_/i.test(line)),
    ]
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
