import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createThing, readAll, type Thing, write } from '../../helpers/http-client.ts'
import { serverOfTest } from '../../helpers/of-test.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { EventSource } from '../event-source.ts'

describe('Last-Event-ID over a restart', () => {
  it.each(['stop', 'kill'] as const)('resumes without gap or repeat after %s', async end => {
    const dataDir = await temporaryDirectory()
    let server = await serverOfTest({ dataDir })
    const thing = await createThing(server)
    const got: number[] = []
    let lastEventId = ''
    let next = 0
    for (let run = 0; run < 3; run++) {
      const source = await openEvents(server, thing, lastEventId)
      // Numbers that are given again after a crash.
      await write(server, thing, { values: [{ key: 'k', value: -1 }], store: false })
      for (const end = next + 10; next < end; next++) await writeValue(server, thing, next)
      await source.until(() => valuesOf(source).includes(next - 5))
      lastEventId = source.lastEventId
      got.push(...valuesOf(source).filter(value => value >= 0))
      await source.destroy()
      for (const end = next + 5; next < end; next++) await writeValue(server, thing, next)
      await write(server, thing, { values: [{ key: 'k', value: -1 }], store: false })
      await server[end]()
      server = await serverOfTest({ dataDir })
      await writeValue(server, thing, next++)
    }
    const source = await openEvents(server, thing, lastEventId)
    await source.until(() => valuesOf(source).includes(next - 1))
    got.push(...valuesOf(source))
    expect(got).toEqual(Array.from({ length: next }, (_, value) => value))
  })

  it('resumes without gap or repeat after kills while writes are under way', async () => {
    const dataDir = await temporaryDirectory()
    let server = await serverOfTest({ dataDir })
    const thing = await createThing(server)
    const acked: number[] = []
    const got: number[] = []
    let lastEventId = ''
    let next = 0
    for (let run = 0; run < 4; run++) {
      const source = await openEvents(server, thing, lastEventId)
      let isEnded = false
      const writers = Array.from({ length: 5 }, async () => {
        while (!isEnded) {
          const value = next++
          // What the kill cuts off may be kept or not.
          await writeValue(server, thing, value).then(
            () => acked.push(value),
            () => {
              isEnded = true
            },
          )
        }
      })
      const wanted = got.length + 30
      await source.until(() => got.length + source.parser.events.length >= wanted)
      const killed = server.kill()
      await source.client.closed
      await killed
      await Promise.all(writers)
      got.push(...valuesOf(source))
      lastEventId = source.lastEventId
      server = await serverOfTest({ dataDir })
    }
    const source = await openEvents(server, thing, lastEventId)
    await writeValue(server, thing, next)
    await source.until(() => valuesOf(source).includes(next))
    got.push(...valuesOf(source))
    expect(new Set(got).size).toBe(got.length)
    expect(acked.filter(value => !got.includes(value))).toEqual([])
    // The order of the store.
    const stored = await readAll(server, thing, 'k')
    expect(got).toEqual(stored.map(({ value }) => value).toReversed())
  })

  it('resumes from before the first event after a crash', async () => {
    const dataDir = await temporaryDirectory()
    let server = await serverOfTest({ dataDir })
    const thing = await createThing(server)
    for (let value = 0; value < 5; value++) {
      await write(server, thing, { values: [{ key: 'k', value: -1 }], store: false })
    }
    const source = await openEvents(server, thing)
    await server.kill()
    server = await serverOfTest({ dataDir })
    for (let value = 0; value < 20; value++) await writeValue(server, thing, value)
    const resumed = await openEvents(server, thing, source.lastEventId)
    await resumed.until(() => valuesOf(resumed).length === 20)
    expect(valuesOf(resumed)).toEqual(Array.from({ length: 20 }, (_, value) => value))
  })

  it('resumes after a crash at what a quiet stream got with a sign of life, behind writes that are not stored', async () => {
    const dataDir = await temporaryDirectory()
    let server = await serverOfTest({ dataDir })
    const [thing, other] = [await createThing(server), await createThing(server)]
    const source = await openEvents(server, thing, '', '?keepAlive=1000')
    await writeValue(server, other, 0)
    for (let value = 0; value < 5; value++) {
      await write(server, other, { values: [{ key: 'k', value: -1 }], store: false })
    }
    const { comments } = source.parser
    await source.until(() => source.parser.comments > comments + 1)
    await server.kill()
    server = await serverOfTest({ dataDir })
    for (let value = 0; value < 20; value++) await writeValue(server, thing, value)
    const resumed = await openEvents(server, thing, source.lastEventId)
    await resumed.until(() => resumed.parser.events.length === 20)
    expect(valuesOf(resumed)).toEqual(Array.from({ length: 20 }, (_, value) => value))
  })

  it('ends streams properly when the server stops', async () => {
    const dataDir = await temporaryDirectory()
    const server = await serverOfTest({ dataDir })
    const thing = await createThing(server)
    const source = await openEvents(server, thing)
    const exit = await server.stop()
    expect(exit.code).toBe(0)
    expect(await source.client.closed).toBe('complete')
  })

  it('is answered with reset by a store that is older than the id', async () => {
    const directory = await temporaryDirectory()
    const dataDir = join(directory, 'now')
    let server = await serverOfTest({ dataDir })
    const thing = await createThing(server)
    const first = await openEvents(server, thing)
    await writeValue(server, thing, 0)
    await first.until(() => valuesOf(first).length === 1)
    await server.stop()
    const olderDir = join(directory, 'older')
    await cp(dataDir, olderDir, { recursive: true })
    server = await serverOfTest({ dataDir })
    const source = await openEvents(server, thing, first.lastEventId)
    for (let value = 1; value < 6; value++) await writeValue(server, thing, value)
    await source.until(() => valuesOf(source).length === 5)
    await server.stop()
    server = await serverOfTest({ dataDir: olderDir })
    for (let value = 100; value < 120; value++) await writeValue(server, thing, value)
    const reset = await openEvents(server, thing, source.lastEventId)
    await reset.until(() => reset.parser.events.length > 0)
    expect(reset.parser.events[0]?.event).toBe('reset')
    // What was given out before the copy was made is still known.
    const known = await openEvents(server, thing, first.lastEventId)
    await known.until(() => valuesOf(known).length === 20)
    expect(valuesOf(known)[0]).toBe(100)
  })
})

async function openEvents(
  server: ServerProcess,
  thing: Thing,
  lastEventId = '',
  query = '',
): Promise<EventSource> {
  const source = await EventSource.open(`${server.url}/v2/things/${thing.thingToken}${query}`, lastEventId)
  onTestFinished(() => {
    source.client.socket.destroy()
  })
  await source.identified()
  return source
}

async function writeValue(server: ServerProcess, thing: Thing, value: number): Promise<void> {
  const answer = await write(server, thing, { values: [{ key: 'k', value }] })
  expect(answer.status).toBe(201)
}

/** The values of the events so far; none may be a reset. */
function valuesOf(source: EventSource): number[] {
  return source.parser.events.map(({ event, data }) => {
    if (event !== 'values') throw new Error(`an event ${event}: ${data}`)
    return JSON.parse(data)[0].value
  })
}
