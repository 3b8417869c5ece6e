import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readProxyHeader } from '../../../src/server/mqtt-admission.ts'
import { eventOf } from '../../helpers/event-of.ts'

const header = Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 4711 1883\r\n')
/** Milliseconds; so long that it never passes. */
const never = 600_000

describe('readProxyHeader()', () => {
  it('leaves what follows the header to be read, though the client has left', async () => {
    const { client, server } = await socketPair()
    client.end(Buffer.concat([header, Buffer.from('the rest')]))
    expect(await readProxyHeader(server, never)).toBe('203.0.113.7')
    const read = await server.toArray()
    expect(Buffer.concat(read).toString()).toBe('the rest')
  })

  it('closes a connection whose header is not complete in time, however much of it has come', async () => {
    const { client, server } = await socketPair()
    client.write(header.subarray(0, -1))
    await expect(readProxyHeader(server, 20)).rejects.toThrow()
    await eventOf(client, 'close')
  })

  it('throws when the client leaves before the header is complete', async () => {
    const { client, server } = await socketPair()
    client.end(header.subarray(0, 10))
    await expect(readProxyHeader(server, never)).rejects.toThrow()
    expect(server.destroyed).toBe(true)
  })

  it('throws when the connection is reset', async () => {
    const { client, server } = await socketPair()
    const reading = readProxyHeader(server, never)
    client.resetAndDestroy()
    await expect(reading).rejects.toThrow()
  })
})

async function socketPair(): Promise<{ client: Socket; server: Socket }> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const client = connect((listener.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  client.resume()
  const [server] = (await once(listener, 'connection')) as [Socket]
  onTestFinished(() => {
    client.destroy()
    server.destroy()
    listener.close()
  })
  return { client, server }
}
