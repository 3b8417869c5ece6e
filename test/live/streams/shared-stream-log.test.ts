import { describe, expect, it, onTestFinished } from 'vitest'
import { Live } from '../../../src/live/index.ts'
import { EventIds } from '../../../src/live/streams/event-ids.ts'
import { SharedStreamLog } from '../../../src/live/streams/shared-stream-log.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { newRecordOf } from '../commits.ts'

const thingId = 'aaaaaaaaaaaaaaaa'

async function start() {
  const store = await openStore(createMemoryStore())
  let completeAfter = 0
  const lost = new Set<number>()
  const nodes = {
    ...store.nodes,
    logBounds: async () => ({ completeAfter, trimmableTo: 0 }),
    hasLogged: async (writeNumber: number) => !lost.has(writeNumber),
  }
  const live = new Live({ ...store, nodes, isShared: true }, 0)
  store.records.logWhen(() => true)
  onTestFinished(async () => {
    await live.close()
    await store.close()
  })
  const write = async (value: string) => {
    const of = { store: true, broadcast: true, answer: {} }
    return (await store.records.append({ thingId, records: [newRecordOf('k', value)], ...of })).writeNumber
  }
  /** Where the log begins. */
  const trimTo = (writeNumber: number) => {
    completeAfter = writeNumber
  }
  const open = async () => new SharedStreamLog(live, nodes, await EventIds.begin(store.documents))
  return { live, open, write, trimTo, lose: (writeNumber: number) => lost.add(writeNumber) }
}

describe('SharedStreamLog', () => {
  it('reads the event ids of every node on it', async () => {
    const { live, open, write } = await start()
    const [one, two] = [await open(), await open()]
    const first = await write('1')
    for (const value of ['2', '3']) await write(value)
    const id = (await one.enter(thingId)).eventId(first)
    const streamed = await two.enter(thingId, id)
    const values: string[] = []
    for await (const { records } of streamed.resume(id, live.writeNumber) ?? expect.fail()) {
      values.push(...records.map(({ value }) => value))
    }
    expect(values).toEqual(['2', '3'])
  })

  it('waits for what another node has told already', async () => {
    const { live, open, write } = await start()
    const log = await open()
    const id = (await log.enter(thingId)).eventId(await write('1'))
    expect(live.writeNumber).toBe(0)
    const streamed = await log.enter(thingId, id)
    expect(streamed.resume(id, live.writeNumber)).toBeDefined()
  })

  it('knows no event id that the log does not go back to, nor one that no write has', async () => {
    const { live, open, write, trimTo } = await start()
    const log = await open()
    const { eventId } = await log.enter(thingId)
    const [first, second] = [await write('1'), await write('2')]
    trimTo(second)
    const isKnown = async (id: string) =>
      (await log.enter(thingId, id)).resume(id, live.writeNumber) !== undefined
    expect(await isKnown(eventId(first))).toBe(false)
    expect(await isKnown(eventId(second))).toBe(true)
    expect(await isKnown(eventId(second + 1))).toBe(false)
    expect(await isKnown(eventId(Number.MAX_SAFE_INTEGER))).toBe(false)
  })

  it('knows no event id of a write that a failover has lost', async () => {
    const { live, open, write, lose } = await start()
    const log = await open()
    const { eventId } = await log.enter(thingId)
    const [kept, lost] = [await write('1'), await write('2')]
    await write('3')
    lose(lost)
    const isKnown = async (id: string) =>
      (await log.enter(thingId, id)).resume(id, live.writeNumber) !== undefined
    expect(await isKnown(eventId(kept))).toBe(true)
    expect(await isKnown(eventId(lost))).toBe(false)
  })

  it('gives nothing that may have a gap where the log is trimmed meanwhile', async () => {
    const { live, open, write, trimTo } = await start()
    const log = await open()
    const { eventId } = await log.enter(thingId)
    const id = eventId(await write('1'))
    await write('2')
    const third = await write('3')
    const streamed = await log.enter(thingId, id)
    const commits = streamed.resume(id, live.writeNumber) ?? expect.fail()
    trimTo(third)
    await expect(commits.next()).rejects.toMatchObject({ reason: 'not_found' })
  })
})
