import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createThing, write } from '../../helpers/http-client.ts'
import { startServer } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { DoorService, reading } from '../../mqtt/door-service.ts'

/** The sample of each limit, by its label. */
function limitsMet(text: string): ReadonlyMap<string, number> {
  const samples = text.matchAll(/^thingwire_limits_met_total\{limit="(\w+)"\} (\d+)$/gm)
  return new Map([...samples].map(([, limit = '', times]) => [limit, Number(times)]))
}

describe('GET /metrics', () => {
  it('gives how often each limit was met, from the start, and what the process uses', async () => {
    const service = await DoorService.start({ limits: { recordsPerSecond: 1 } })
    const before = await fetch(`${service.url}/metrics`)
    expect(before.status).toBe(200)
    expect(before.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    const figures = await before.text()
    expect([...limitsMet(figures)]).toEqual([...service.things.limits.met.keys()].map(limit => [limit, 0]))
    expect(figures).toContain('process_cpu_seconds_total')

    const thing = await createThing(service)
    const values = Array.from({ length: 100 }, (_, value) => ({ key: 'n', value }))
    await write(service, thing, { values })
    for (let refused = 0; refused < 3; refused++) await write(service, thing, reading(1))
    const after = await (await fetch(`${service.url}/metrics`)).text()
    expect(limitsMet(after).get('record_rate_exceeded')).toBe(3)
    for (const secret of [thing.thingId, thing.thingToken, service.adminKey])
      expect(after).not.toContain(secret)
  })

  it.each(['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP'])(
    'asks for the admin key where %s says that a proxy is in between',
    async header => {
      const service = await DoorService.start()
      const headers = { [header]: '192.0.2.1' }
      const ask = (more: object) => fetch(`${service.url}/metrics`, { headers: { ...headers, ...more } })
      const refused = await ask({})
      expect(refused.status).toBe(401)
      expect(await refused.json()).toMatchObject({ reason: 'missing_credential' })
      const wrong = await ask({ authorization: 'Bearer wrong' })
      expect(await wrong.json()).toMatchObject({ reason: 'invalid_session' })
      expect((await ask({ authorization: `Bearer ${service.adminKey}` })).status).toBe(200)
    },
  )

  it.each([
    ['127.0.0.1', 200],
    ['127.0.0.1:8080', 200],
    ['127.255.1.2', 200],
    ['localhost', 200],
    ['LocalHost:8080', 200],
    ['[::1]', 200],
    ['[::1]:8080', 200],
    ['[::ffff:127.0.0.1]:8080', 200],
    [undefined, 200],
    ['rebound.example', 401],
    ['rebound.example:8080', 401],
    ['localhost.rebound.example', 401],
    ['127.0.0.1.rebound.example', 401],
    ['rebound.example:127.0.0.1', 401],
    ['192.0.2.1', 401],
    ['2130706433', 401],
    ['0.0.0.0:8080', 401],
    ['', 401],
  ])('answers a program on this machine that asks for %j with %i', async (host, status) => {
    const service = await DoorService.start()
    const { hostname, port } = new URL(service.url)
    const socket = connect({ host: hostname, port: Number(port) })
    const named = host === undefined ? '' : `Host: ${host}\r\n`
    socket.write(`GET /metrics HTTP/1.1\r\n${named}Connection: close\r\n\r\n`)
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })

  it('asks nobody for a credential with publicMetrics', async () => {
    const dataDir = await temporaryDirectory()
    const server = await startServer({ dataDir, args: ['--public-metrics', 'true'] })
    onTestFinished(async () => void (await server.stop()))
    for (const headers of [
      { 'X-Forwarded-For': '192.0.2.1' },
      { Via: '1.1 proxy' },
      { authorization: 'Bearer wrong' },
      {},
    ]) {
      const answer = await fetch(`${server.url}/metrics`, { headers })
      expect([answer.status, await answer.text()]).toEqual([
        200,
        expect.stringContaining('thingwire_store_ready 1'),
      ])
    }
    expect((await fetch(`${server.url}/v2/admin/things`)).status).toBe(401)
  })

  it('is refused like any other path with any other method', async () => {
    const service = await DoorService.start()
    const answer = await fetch(`${service.url}/metrics`, { method: 'POST', body: '{}' })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD')
    expect(await answer.json()).toMatchObject({ reason: 'method_not_allowed' })
  })
})
