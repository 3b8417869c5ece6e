import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { dashboardRoutes } from '../../../src/server/http/dashboard.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { openHost, reasonOf } from '../../http/host.ts'
import { DoorService } from '../../mqtt/door-service.ts'

const page = '<!doctype html><title>t</title>'
const version = '1.2.3'
const script = 'console.log(1)'
const scriptUrl = '/assets/index-abc123.js'

interface Served {
  readonly app: FastifyInstance
  readonly directory: string
}

async function serve(isBuilt: boolean, mqttsPort?: number, isMqttLoopback = true): Promise<Served> {
  const directory = await temporaryDirectory()
  if (isBuilt) {
    await mkdir(join(directory, 'assets'))
    await writeFile(join(directory, 'index.html'), page)
    await writeFile(join(directory, `${scriptUrl}.gz`), gzipSync(script))
  }
  const { app } = await openHost({ plugin: { ownsApp: true } })
  await dashboardRoutes(app, { version, mqttPort: 1883, mqttsPort, isMqttLoopback, directory })
  return { app, directory }
}

describe('dashboardRoutes()', () => {
  it('serves the page at / under rules that bind it to its server', async () => {
    const { app } = await serve(true)
    for (const url of ['/', '//', '/index.html', '/?from=elsewhere']) {
      const answer = await app.inject({ url, headers: { host: 'thingwire.example:8080' } })
      expect([answer.statusCode, answer.body]).toEqual([200, page])
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      const policy = String(answer.headers['content-security-policy']).split('; ')
      expect(policy).toContain("default-src 'self'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("connect-src 'self' ws://thingwire.example:8080 wss://thingwire.example:8080")
    }
  })

  it('takes no rule from a Host that is no name', async () => {
    const { app } = await serve(true)
    for (const host of ['x; script-src *', "x 'unsafe-inline'", '{x}', 'a/b']) {
      const { headers } = await app.inject({ url: '/', headers: { host } })
      expect(headers['content-security-policy']).toContain("connect-src 'self'; ")
    }
  })

  it('serves files whose names hold a hash compressed, and for a year', async () => {
    const { app } = await serve(true)
    for (const accepted of ['gzip, deflate, br', 'gzip', '*']) {
      const answer = await app.inject({ url: scriptUrl, headers: { 'accept-encoding': accepted } })
      expect(gunzipSync(answer.rawPayload).toString()).toBe(script)
      expect(answer.headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-type': 'text/javascript; charset=utf-8',
        'content-length': String(answer.rawPayload.length),
        'cache-control': 'public, max-age=31536000, immutable',
        'content-security-policy': expect.stringContaining("default-src 'self'"),
        vary: 'accept-encoding',
      })
    }
  })

  it('decompresses them for a client that takes no gzip', async () => {
    const { app } = await serve(true)
    for (const accepted of ['', 'br', 'identity', 'gzip;q=0', 'GZIP ; Q=0.0', 'gzip; q=0.1, identity']) {
      const { body, headers } = await app.inject({ url: scriptUrl, headers: { 'accept-encoding': accepted } })
      expect([accepted, body, headers['content-encoding']]).toEqual([accepted, script, undefined])
      expect(headers.vary).toBe('accept-encoding')
    }
    expect((await app.inject({ url: `${scriptUrl}.gz` })).statusCode).toBe(404)
  })

  it('answers what has not changed with 304, and HEAD without a body', async () => {
    const { app } = await serve(true)
    const { etag } = (await app.inject({ url: '/' })).headers
    const again = await app.inject({ url: '/', headers: { 'if-none-match': String(etag) } })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    const head = await app.inject({ method: 'HEAD', url: '/' })
    expect([head.statusCode, head.body]).toEqual([200, ''])
  })

  it('answers another method with 405, and a file that is gone with 404', async () => {
    const { app, directory } = await serve(true)
    for (const url of ['/', scriptUrl, '/dashboard.json']) {
      const answer = await app.inject({ method: 'POST', url, body: '{' })
      expect([answer.statusCode, reasonOf(answer)]).toEqual([405, 'method_not_allowed'])
      expect(answer.headers.allow).toBe('GET, HEAD')
    }
    await rm(join(directory, `${scriptUrl}.gz`))
    const gone = await app.inject({ url: scriptUrl })
    expect([gone.statusCode, reasonOf(gone)]).toEqual([404, 'not_found'])
  })

  it('says how to build it where it is not built', async () => {
    const { app } = await serve(false)
    const answer = await app.inject({ url: '/' })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(answer.body).toContain('npm run build')
  })

  it('says at /dashboard.json where devices connect', async () => {
    const inClear = await (await serve(false)).app.inject({ url: '/dashboard.json' })
    expect(inClear.json()).toEqual({ mqttPort: 1883, version, loopback: true })
    const secure = await (await serve(true, 8883)).app.inject({ url: '/dashboard.json' })
    expect(secure.json()).toEqual({ mqttPort: 1883, mqttsPort: 8883, version, loopback: true })
  })

  it.each([
    ['127.0.0.1', true, true],
    ['127.0.0.1', false, false],
    ['0.0.0.0', true, false],
  ])('says whether a device elsewhere can reach it: HTTP on %s', async (host, isMqttLoopback, loopback) => {
    const { app } = await serve(false, undefined, isMqttLoopback)
    await app.listen({ host, port: 0 })
    expect((await app.inject({ url: '/dashboard.json' })).json()).toMatchObject({ loopback })
  })

  it('leaves the rest of the server as it is', async () => {
    const service = await DoorService.start()
    const facts = await fetch(`${service.url}/dashboard.json`)
    expect(await facts.json()).toMatchObject({
      mqttPort: Number(new URL(service.mqttUrl).port),
      loopback: true,
    })
    expect((await fetch(service.url)).status).toBe(200)
    for (const path of ['/nope', '/assets', '/assets/../package.json', '/v2/nope', '/.env']) {
      const answer = await fetch(service.url + path)
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({ reason: 'not_found' })
    }
    const { headers } = await fetch(`${service.url}/v2/`)
    for (const name of ['content-security-policy', 'referrer-policy', 'x-content-type-options'])
      expect(headers.get(name)).toBeNull()
  })
})
