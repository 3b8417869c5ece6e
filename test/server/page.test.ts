import { once } from 'node:events'
import { Aedes } from 'aedes'
import fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import WebSocket from 'ws'
import { createToken } from '../../src/core/token.ts'
import { hostOptions, thingsHttp } from '../../src/http/index.ts'
import { attachThings } from '../../src/mqtt/index.ts'
import { type ThingsPageOptions, thingsPage } from '../../src/server/page.ts'
import type { ThingsOptions } from '../../src/things.ts'
import { runCommand } from '../cli/command.ts'
import { thingsOfTest } from '../embed/host-things.ts'
import { isMessageOn } from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'

interface Prepared {
  readonly things?: Partial<ThingsOptions>
  readonly options?: Omit<ThingsPageOptions, 'things'>
  readonly prefix?: string
  readonly prepare?: (app: FastifyInstance) => void
}

/** An app with the page that listens, and one thing. */
async function openApp({ things: given, options = {}, prefix = '', prepare }: Prepared = {}) {
  const service = await thingsOfTest(given)
  const { things } = service
  const app = fastify({ ...hostOptions }) as FastifyInstance
  prepare?.(app)
  await app.register(
    async scope => {
      await scope.register(thingsHttp, { things })
      await scope.register(thingsPage, { things, ...options })
    },
    { prefix },
  )
  onTestFinished(() => app.close())
  return { ...service, app, url: (await app.listen({ port: 0, host: '127.0.0.1' })) + prefix }
}

/** Subscribes as the page does, and expects a stored and a live value. */
async function expectLiveValues({ things, thingId, thingToken, url }: Awaited<ReturnType<typeof openApp>>) {
  await things.write(thingId, [{ key: 'depth', value: 1 }])
  const client = await mqttOfTest({
    url: `${url.replace('http', 'ws')}/mqtt`,
    password: thingToken,
    username: 'p',
  })
  const topic = `things/${thingId}/values/depth`
  await client.subscribe(topic, 1)
  for (const value of [1, 2]) {
    const { payload } = await client.next(isMessageOn(topic))
    expect(JSON.parse(payload.toString())).toMatchObject({ value })
    if (value === 1) await things.write(thingId, [{ key: 'depth', value: 2 }])
  }
  return client
}

describe('thingsPage', () => {
  it('serves the page of the ready server, beside routes of the app', async () => {
    const { url } = await openApp({ prepare: app => void app.get('/shop', async () => 'open') })
    const page = await fetch(url)
    expect(await page.text()).toContain('<title>Thingwire</title>')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(await (await fetch(`${url}/shop`)).text()).toBe('open')
    const facts = await (await fetch(`${url}/dashboard.json`)).json()
    expect(facts).toEqual({ version: expect.any(String), loopback: true })
  })

  it('has no fault for the doctor', async () => {
    const adminKey = createToken()
    const { url, things, thingId, thingToken } = await openApp({ things: { adminKey } })
    await things.write(thingId, [{ key: 'depth', value: 1 }])
    for (const [args, token] of [
      [[thingId], adminKey],
      [[], thingToken],
    ] as const) {
      const ended = await runCommand(['doctor', ...args], {
        server: { url },
        environment: { THINGWIRE_TOKEN: token },
      })
      expect(ended).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/MQTT port +the server names none/),
      })
    }
  })

  it('brings live values through a broker of its own', async () => {
    await expectLiveValues(await openApp())
  })

  it('brings live values under a prefix', async () => {
    const opened = await openApp({ prefix: '/readings' })
    expect(await (await fetch(`${opened.url}/`)).text()).toContain('<title>Thingwire</title>')
    expect((await fetch(`${opened.url}/v2/utils/date?thingToken=${opened.thingToken}`)).status).toBe(200)
    await expectLiveValues(opened)
  })

  it('brings live values through the broker of the host, and names its ports', async () => {
    const { things, thingId, thingToken } = await thingsOfTest()
    const broker = await Aedes.createBroker()
    const detach = attachThings(broker, things)
    const app = fastify({ ...hostOptions }) as FastifyInstance
    await app.register(thingsHttp, { things })
    await app.register(thingsPage, { things, broker, mqttPort: 11_883, mqttsPort: 18_883 })
    onTestFinished(async () => {
      await app.close()
      await detach()
      await new Promise<void>(resolve => broker.close(resolve))
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    await expectLiveValues({ things, thingId, thingToken, app, url })
    expect(broker.connectedClients).toBe(1)
    expect(await (await fetch(`${url}/dashboard.json`)).json()).toMatchObject({
      mqttPort: 11_883,
      mqttsPort: 18_883,
    })
  })

  it('ends its connections with the app', async () => {
    const opened = await openApp()
    const client = await expectLiveValues(opened)
    await opened.app.close()
    await client.closed
  })

  it('answers a WebSocket elsewhere, and leaves it to another listener', async () => {
    const { app, url } = await openApp()
    const webSocket = new WebSocket(`${url.replace('http', 'ws')}/elsewhere`)
    const [error] = await once(webSocket, 'error')
    expect(String(error)).toContain('426')
    const taken = once(app.server, 'upgrade').then(([, socket]) => socket.destroy())
    app.server.prependListener('upgrade', () => {})
    new WebSocket(`${url.replace('http', 'ws')}/chat`).on('error', () => {})
    await taken
  })

  it('wants thingsHttp first', async () => {
    const { things } = await thingsOfTest()
    const app = fastify()
    await expect(app.register(thingsPage, { things })).rejects.toThrow(
      'thingsPage needs thingsHttp: await app.register(thingsHttp, { things }) first',
    )
  })

  it('wants a broker that has the things', async () => {
    const { things } = await thingsOfTest()
    const broker = await Aedes.createBroker()
    onTestFinished(() => new Promise<void>(resolve => broker.close(resolve)))
    const app = fastify()
    await app.register(thingsHttp, { things })
    await expect(app.register(thingsPage, { things, broker })).rejects.toThrow(
      'thingsPage needs a broker with the things: attachThings(broker, things) first',
    )
  })

  it('wants its prefix from a scope', async () => {
    const { things } = await thingsOfTest()
    const options = { things, prefix: '/readings' }
    await expect(fastify().register(thingsHttp, options)).rejects.toThrow(
      'prefix of thingsHttp must be that of a scope: app.register(',
    )
    const app = fastify()
    await app.register(thingsHttp, { things })
    await expect(app.register(thingsPage, options)).rejects.toThrow(
      'prefix of thingsPage must be that of a scope',
    )
  })
})
