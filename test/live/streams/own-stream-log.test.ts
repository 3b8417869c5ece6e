import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Append } from '../../../src/core/ports.ts'
import { OwnStreamLog } from '../../../src/live/streams/own-stream-log.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openThings, type ThingsParts } from '../../../src/things.ts'
import { adminKey } from '../../http/host.ts'

const minutes = 60_000
const thingId = 'aaaaaaaaaaaaaaaa'

describe('OwnStreamLog', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('keeps the writes of a thing from its first stream on until 10 min after its last one', async () => {
    const things = await openOnMemory()
    const log = things.streamLog
    await append(things, 'before')
    const [first, second] = [await log.enter(thingId), await log.enter(thingId)]
    await append(things, 'streamed')
    first.leave()
    await vi.advanceTimersByTimeAsync(11 * minutes)
    await append(things, 'still streamed')
    second.leave()
    await vi.advanceTimersByTimeAsync(9 * minutes)
    const third = await log.enter(thingId)
    third.leave()
    await vi.advanceTimersByTimeAsync(9 * minutes)
    await append(things, 'a short time ago')
    expect(await things.documents.get(`streams/${thingId}`)).toEqual({ since: 1 })
    expect(await logged(things)).toEqual(['streamed', 'still streamed', 'a short time ago'])
    await vi.advanceTimersByTimeAsync(1 * minutes)
    await append(things, 'after')
    expect(await things.documents.get(`streams/${thingId}`)).toBeUndefined()
    await things.live.log.trim()
    expect(await logged(things)).toEqual([])
  })

  it('begins anew when a stream comes just as the thing is given up', async () => {
    const things = await openOnMemory()
    const log = things.streamLog
    const before = await log.enter(thingId)
    before.leave()
    vi.advanceTimersByTime(10 * minutes)
    await log.enter(thingId)
    expect(await things.documents.get(`streams/${thingId}`)).toEqual({ since: 0 })
    await append(things, 'streamed')
    expect(await logged(things)).toEqual(['streamed'])
  })

  it('goes on after a restart with what the run before has kept, for 10 min', async () => {
    const things = await openOnMemory()
    await things.documents.put({ [`streams/${thingId}`]: { since: 0 } }, 'keep')
    const log = await OwnStreamLog.open(things.documents, things.live)
    await append(things, 'before it is streamed')
    const streamed = await log.enter(thingId)
    expect(streamed.resume(streamed.eventId(0), 1)).toBeDefined()
    streamed.leave()
    expect(await logged(things)).toEqual(['before it is streamed'])
    await vi.advanceTimersByTimeAsync(10 * minutes)
    expect(await things.documents.get(`streams/${thingId}`)).toBeUndefined()
  })

  it('gives nothing up once it is closed', async () => {
    const things = await openOnMemory()
    const log = things.streamLog
    const streamed = await log.enter(thingId)
    log.close()
    streamed.leave()
    await vi.advanceTimersByTimeAsync(11 * minutes)
    await append(things, 'on its way when the host closed')
    expect(await things.documents.get(`streams/${thingId}`)).toEqual({ since: 0 })
    expect(await logged(things)).toEqual(['on its way when the host closed'])
  })
})

async function openOnMemory(): Promise<ThingsParts> {
  const things = await openThings({ store: createMemoryStore(), adminKey })
  onTestFinished(() => things.close())
  return things
}

/** Appends a record to the thing. */
async function append({ records }: ThingsParts, value: string): Promise<void> {
  const write: Append = {
    thingId,
    records: [{ key: 'k', datetime: Number.NaN, value: JSON.stringify(value), place: 0, explicit: false }],
    store: true,
    answer: {},
    broadcast: true,
  }
  await records.append(write)
}

/** The values in the commit log. */
async function logged({ records }: ThingsParts): Promise<unknown[]> {
  const commits = await records.readLog({
    after: 0,
    before: Number.POSITIVE_INFINITY,
    order: 'asc',
    limit: 100,
  })
  return commits.flatMap(commit => commit.records.map(({ value }) => JSON.parse(value)))
}
