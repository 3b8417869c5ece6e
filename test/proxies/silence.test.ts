import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { encodePackets } from '../helpers/mqtt-client.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { startHaproxy, startNginx } from './proxy.ts'

/** Signs of life that are waited for: the third comes 75 s after the beginning, when a proxy would have cut at 60. */
const signs = 3

/** What is open through a proxy while nothing is written. */
interface Silent {
  /** Resolves when so many signs of life have come. */
  readonly outlasted: Promise<void>
  /** Resolves when a write was seen. */
  readonly seen: Promise<void>
}

/** @param name for the error if it is cut */
type Open = (url: string, thing: Thing, name: string) => Promise<Silent>

const kinds: Readonly<Record<string, Open>> = {
  'a chunked stream': (url, thing, name) => {
    return openStream(pathOf(url, thing), name, 'application/json', /\{\}/g)
  },
  'an event stream': (url, thing, name) => {
    return openStream(pathOf(url, thing), name, 'text/event-stream', /^:$/gm)
  },
  'MQTT over WebSocket without keep-alive': openWebSocket,
}

// All at once: each of them waits for 75 s.
test('what is open through nginx and HAProxy with their default times lasts through 75 s in which nothing is written', async () => {
  const server = await serverOfTest()
  const thing = await createThing(server)
  const proxies = { nginx: await startNginx(server), HAProxy: await startHaproxy(server) }
  const all = Object.entries(proxies).flatMap(([proxy, url]) => {
    return Object.entries(kinds).map(async ([kind, open]) => {
      return await open(url, thing, `${kind} behind ${proxy}`)
    })
  })
  const open = await Promise.all(all)
  await Promise.all(open.map(({ outlasted }) => outlasted))
  expect((await write(server, thing, { values: [{ key: 'late', value: 1 }] })).status).toBe(201)
  await Promise.all(open.map(({ seen }) => seen))
  expect(open).toHaveLength(6)
})

function pathOf(url: string, { thingToken }: Thing): string {
  return `${url}/v2/things/${thingToken}`
}

async function openStream(url: string, name: string, accept: string, sign: RegExp): Promise<Silent> {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const response = await fetch(url, { headers: { accept }, signal: abort.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (isThere: () => boolean) => {
    while (!isThere()) {
      const { value, done } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) throw new Error(`${name} was cut behind ${JSON.stringify(text)}`)
      text += value
    }
  }
  const outlasted = until(() => (text.match(sign) ?? []).length >= signs)
  return { outlasted, seen: outlasted.then(() => until(() => text.includes('"late"'))) }
}

async function openWebSocket(url: string, { thingToken }: Thing, name: string): Promise<Silent> {
  const webSocket = new WebSocket(`${url.replace(/^http/, 'ws')}/mqtt`, 'mqtt')
  onTestFinished(() => webSocket.terminate())
  const cut = once(webSocket, 'close').then(() => Promise.reject(new Error(`${name} was cut`)))
  cut.catch(() => {})
  await once(webSocket, 'open')
  const connect = { cmd: 'connect', clientId: name, keepalive: 0, username: thingToken } as const
  const subscriptions = [{ topic: `things/${thingToken}/values/late`, qos: 0 as const }]
  webSocket.send(encodePackets(connect, { cmd: 'subscribe', messageId: 1, subscriptions }))
  const pings = async () => {
    for (let sign = 0; sign < signs; sign++) await once(webSocket, 'ping')
  }
  const seen = new Promise<void>(resolve => {
    webSocket.on('message', message => String(message).includes('"late"') && resolve())
  })
  return { outlasted: Promise.race([pings(), cut]), seen: Promise.race([seen, cut]) }
}
