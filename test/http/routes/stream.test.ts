import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { Subscriber } from '../../../src/live/index.ts'
import { StreamedThing } from '../../../src/live/streams/own-stream-log.ts'
import { asAdmin, type ListeningHost, listeningHost, openHost, reasonOf } from '../host.ts'
import { openStream, StreamClient } from '../stream-client.ts'

describe('access to a stream', () => {
  it('takes the token in the path, a credential, or session', async () => {
    const { url, thingId, thingToken } = await listeningHost()
    const byId = url.replace(thingToken, thingId)
    for (const stream of [
      await openStream(byId, asAdmin),
      await openStream(byId, { authorization: thingToken }),
      await openStream(`${byId}?session=${thingToken}`),
      await openStream(`${byId}?session=${thingToken}`, { accept: 'text/event-stream' }),
    ]) {
      expect((await stream.head()).split('\r\n')[0]).toBe('HTTP/1.1 200 OK')
    }
  })

  it('is refused like a read', async () => {
    const { inject, thingId, things } = await openHost()
    const other = await things.registry.create({})
    for (const headers of [{ accept: 'text/event-stream' }, {}]) {
      const get = async (rest: string) => reasonOf(await inject({ url: `/v2/things/${rest}`, headers }))
      expect(await get(thingId)).toBe('missing_credential')
      expect(await get(`${thingId}?session=`)).toBe('missing_credential')
      expect(await get(`${thingId}?session=${'x'.repeat(43)}`)).toBe('invalid_session')
      expect(await get(`${thingId}?session=${other.thingToken}`)).toBe('forbidden')
      expect(await get('x'.repeat(43))).toBe('unknown_thing_token')
      expect(await get('nothing')).toBe('not_found')
    }
  })

  it('does not take session elsewhere', async () => {
    const { inject, thingId, thingToken } = await openHost()
    const answer = await inject({ url: `/v2/things/${thingId}/resources?session=${thingToken}` })
    expect(reasonOf(answer)).toBe('missing_credential')
  })
})

describe('a stream', () => {
  it('ends properly when the host closes', async () => {
    const { url, app, write } = await listeningHost()
    const streams = [await openStream(url), await openStream(url, { accept: 'text/event-stream' })]
    for (const stream of streams) await stream.next()
    await write({ key: 'k', value: 1 })
    for (const stream of streams) await stream.next()
    await app.close()
    expect(await Promise.all(streams.map(({ closed }) => closed))).toEqual(['complete', 'complete'])
  })

  it('is cut when its client takes nothing, and delays nobody', async () => {
    const host = await listeningHost(200)
    const stuck = await stuckStream(host)
    const good = await openStream(host.url)
    await good.next()
    // More than the system keeps for a socket, and less than may wait in the process.
    for (let count = 0; count < 110; count++) {
      await host.write({ key: 'k', value: 'x'.repeat(60_000) })
      expect((await good.next()).length).toBeGreaterThan(60_000)
    }
    await stuck.cut
    stuck.client.socket.resume()
    expect(await stuck.client.closed).toBe('cut')
  })

  it('is cut when too much waits for its client', async () => {
    const host = await listeningHost(600_000)
    const stuck = await stuckStream(host)
    let isCut = false
    const cut = stuck.cut.then(() => {
      isCut = true
    })
    while (!isCut) await host.write({ key: 'k', value: 'x'.repeat(60_000) })
    await cut
  })

  it.each(['application/json', 'text/event-stream'])(
    'of %s does not begin for a client that has gone',
    async accept => {
      let release = () => {}
      const isReleased = new Promise<void>(resolve => {
        release = resolve
      })
      let asked = () => {}
      const isAsked = new Promise<void>(resolve => {
        asked = resolve
      })
      const { app, path, things } = await openHost({
        alter: things => ({
          ...things,
          access: {
            ...things.access,
            authorise: async (...parts) => {
              asked()
              await isReleased
              return await things.access.authorise(...parts)
            },
          },
        }),
      })
      const subscribed: Subscriber[] = []
      things.live.subscribe = (_, subscriber) => {
        if (!(subscriber instanceof StreamedThing)) subscribed.push(subscriber)
      }
      const connected = once(app.server, 'connection') as Promise<[Socket]>
      const url = (await app.listen({ host: '127.0.0.1', port: 0 })) + path
      const stream = await StreamClient.open(url, { accept })
      const gone = closeOf((await connected)[0])
      await isAsked
      await stream.destroy()
      await gone
      release()
      await (await openStream(url, { accept })).next()
      expect(subscribed.length).toBe(1)
    },
  )

  it('leaves nothing behind when its client goes', async () => {
    const { url, things, app, write } = await listeningHost()
    const { live } = things
    let subscribed = 0
    const { subscribe, unsubscribe } = live
    live.subscribe = (...parts) => {
      subscribed++
      subscribe.apply(live, parts)
    }
    live.unsubscribe = (...parts) => {
      subscribed--
      unsubscribe.apply(live, parts)
    }
    const gone: Promise<unknown>[] = []
    app.server.on('connection', socket => gone.push(closeOf(socket)))
    for (let round = 0; round < 25; round++) {
      const streams = [
        await StreamClient.open(url),
        await StreamClient.open(url, { accept: 'text/event-stream' }),
      ]
      // Some go before they are answered.
      if (round % 5 !== 0) await Promise.all(streams.map(stream => stream.next()))
      await Promise.all(streams.map(stream => stream.destroy()))
    }
    await write({ key: 'k', value: 1 })
    while (gone.length < 50) await once(app.server, 'connection')
    await Promise.all(gone)
    await things.documents.get('anything')
    // What keeps the writes of the thing for streams that come back.
    expect(subscribed).toBe(1)
  })
})

/** A stream whose client reads no more; `cut` resolves when the server has ended it. */
async function stuckStream({ app, url }: ListeningHost) {
  const connected = once(app.server, 'connection') as Promise<[Socket]>
  const client = await openStream(url)
  const [socket] = await connected
  await client.next()
  client.socket.pause()
  return { client, cut: closeOf(socket) }
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise(resolve => socket.once('close', () => resolve()))
}
