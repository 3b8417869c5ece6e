import { expect, it, onTestFinished } from 'vitest'
import type { LogQuery } from '../../src/core/ports.ts'
import { Redactor } from '../../src/core/refusals/redactor.ts'
import { Feed } from '../../src/forward/feed.ts'
import { Feeds } from '../../src/forward/feeds.ts'
import { ByteBudget, Link } from '../../src/forward/link.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'

it('sends the record of one thing though others write all the time, so that there is always more to read', async () => {
  const { records } = await openStore(createMemoryStore())
  records.logWhen(() => true)
  const append = async (thingId: string) => {
    const record = { key: 'n', value: '1', datetime: Number.NaN, explicit: false, place: 0 }
    const { writeNumber } = await records.append({
      ...{ thingId, records: [record], store: true, broadcast: true, answer: {} },
    })
    feeds.delivered(writeNumber)
  }
  let reads = 0
  const readLog = async (query: LogQuery) => {
    reads++
    const page = await records.readLog(query)
    await append('other')
    return page
  }
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  let isAsked: (thingId: string) => void = () => {}
  const asked = new Promise<void>(resolve => {
    isAsked = thingId => thingId === 'one' && resolve()
  })
  const makeFeed = (thingId: string, filledTo: number, isBehind: boolean) => {
    // Whoever has something to send asks for its token first.
    const token = () => {
      isAsked(thingId)
      return new Promise<string>(() => {})
    }
    const nothing = () => {}
    const told = { onPassed: nothing, onSent: nothing, onRefused: nothing, onHeld: nothing, onFreed: nothing }
    const link = new Link({ redactor: new Redactor(), url: 'mqtt://127.0.0.1:1' }, nothing)
    const parts = { thingId, link, budget: new ByteBudget(undefined), stop: stop.signal, token, ...told }
    return new Feed(parts, filledTo, isBehind)
  }
  const parts = { records: { readLog }, isForwarded: () => true, makeFeed, stop: stop.signal }
  const feeds = new Feeds(parts, { after: -1, apart: new Map() }, -1, -1)
  await append('one')
  void feeds.run()
  await asked
  expect(reads).toBeLessThan(10)
})
