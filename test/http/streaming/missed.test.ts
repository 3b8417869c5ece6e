import { expect, it } from 'vitest'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { aloneNode } from '../../helpers/alone-node.ts'
import { EventSource } from '../event-source.ts'
import { listeningHost } from '../host.ts'
import { openStream } from '../stream-client.ts'

it('streams are told in its place that the node has missed writes: chunks end, events go on with reset', async () => {
  const listeners = new Set<() => void>()
  const nodes = {
    ...aloneNode(),
    onGap: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const { url, things, thingId } = await listeningHost(undefined, {
    driver: Object.assign(createMemoryStore(), { nodes }),
  })
  const [chunks, source] = [await openStream(url), await EventSource.open(url)]
  await chunks.next()
  await source.identified()
  const append = (value: string) => {
    const record = { key: 'k', datetime: Number.NaN, value, place: 0, explicit: false }
    const of = { thingId, store: true, broadcast: true, answer: {} }
    return things.records.append({ ...of, records: [record] })
  }
  await append('1')
  for (const listener of listeners) listener()
  await append('2')
  expect(await chunks.next()).toContain('"value":1')
  expect(await chunks.closed).toBe('complete')
  const events = [await source.next(), await source.next(), await source.next()]
  expect(events.map(({ event }) => event)).toEqual(['values', 'reset', 'values'])
  expect(events[2]?.data).toContain('"value":2')
  // What it is given can be resumed from.
  const resumed = await EventSource.open(url, events[1]?.lastEventId)
  expect((await resumed.next()).data).toBe(events[2]?.data)
  await Promise.all([source, resumed].map(each => each.destroy()))
})
