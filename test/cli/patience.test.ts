import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createThing, readAll } from '../helpers/http-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { runCommand, startCommand } from './command.ts'

/** A server that was stopped, what it holds, and how it is started again on the same port. */
async function stopped() {
  const dataDir = await temporaryDirectory()
  const first = await serverOfTest({ dataDir })
  const thing = await createThing(first)
  await first.kill()
  const port = Number(new URL(first.url).port)
  const start = async () => {
    return await serverOfTest({ dataDir, args: ['--http-port', String(port)] })
  }
  return { server: first, port, thing, start }
}

/** Says 503 to everything, as a server does that is stopping or whose store is away. */
async function refusing(port: number, retryAfter: number) {
  const body = JSON.stringify({ reason: 'store_unavailable', message: 'The store is away.' })
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'retry-after': String(retryAfter) }).end(body)
  }).listen(port, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const end = async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end }
}

const record = '{"key":"n","value":1}\n'

describe('thingwire write, where the server', () => {
  it('is not there yet, waits for it with records of stdin', async () => {
    const { server, thing, start } = await stopped()
    const write = startCommand(['write', thing.thingId, '--now'], { server, input: record })
    await write.told(/: again in 1 s/)
    const again = await start()
    expect(await write.ended).toMatchObject({ code: 0 })
    expect(await readAll(again, thing, 'n')).toHaveLength(1)
  })

  it('is not there, fails at once with a reading', async () => {
    const { server, thing } = await stopped()
    const { code, stderr } = await runCommand(['write', thing.thingId, 'n=1'], { server })
    expect(code).toBe(3)
    expect(stderr).toMatch(/^thingwire: no answer from [^\n]+\n$/)
  })

  it('answers 503, and is then away for a moment, waits with a reading, too', async () => {
    const { server, port, thing, start } = await stopped()
    const away = await refusing(port, 1)
    const write = startCommand(['write', thing.thingId, 'n=1'], { server })
    await write.told(/\(store_unavailable, HTTP 503\): again in 1 s/)
    await away.end()
    const again = await start()
    expect(await write.ended).toMatchObject({ code: 0 })
    expect(await readAll(again, thing, 'n')).toHaveLength(1)
  })

  it('says 503 for more than a minute, fails with a reading and waits with records of a file', async () => {
    const { url } = await refusing(0, 120)
    const server = { url, adminKey: 'k'.repeat(43) }
    const thingId = 'abcdefgh234567ab'
    const reading = await runCommand(['write', thingId, 'n=1'], { server })
    expect(reading).toMatchObject({ code: 1, stderr: expect.stringMatching(/HTTP 503\)\n$/) })
    const records = startCommand(['write', thingId, '--now'], { server, input: record })
    await records.told(/HTTP 503\): again in 120 s/)
  })
})
