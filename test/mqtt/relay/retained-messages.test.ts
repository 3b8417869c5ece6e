import { describe, expect, it, onTestFinished } from 'vitest'
import { RetainedMessages } from '../../../src/mqtt/relay/retained-messages.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openStore } from '../../../src/store/open-store.ts'

async function retain(...topics: readonly string[]): Promise<RetainedMessages> {
  const store = await openStore(createMemoryStore())
  onTestFinished(() => store.close())
  const retained = new RetainedMessages(store.documents)
  for (const topic of topics) retained.change({ topic, payload: Buffer.from(topic), qos: 1 })
  return retained
}

const topics = ['a', 'a/b', 'a/b/c', 'A/b', 'a/', '$x/b', 'x/b'] as const

describe('RetainedMessages.matching', () => {
  it.each<[filters: readonly string[], found: readonly string[]]>([
    [['a/b'], ['a/b']],
    [['a/'], ['a/']],
    [['$x/b'], ['$x/b']],
    [['a/b/'], []],
    [
      ['a/b', 'nothing', 'x/b', 'a/b'],
      ['a/b', 'x/b'],
    ],
    [['a/#'], ['a', 'a/', 'a/b', 'a/b/c']],
    [['+/b'], ['A/b', 'a/b', 'x/b']],
    [
      ['a/+', 'a/b', '#'],
      ['A/b', 'a', 'a/', 'a/b', 'a/b/c', 'x/b'],
    ],
    [[], []],
  ])('of %j gives each message once that one of them matches', async (filters, found) => {
    const retained = await retain(...topics)
    expect(
      retained
        .matching(filters)
        .map(({ topic }) => topic)
        .sort(),
    ).toEqual(found)
  })

  it('gives the newest message of a topic, and none that was removed', async () => {
    const retained = await retain('a')
    retained.change({ topic: 'a', payload: Buffer.from('newer'), qos: 0 })
    expect(retained.matching(['a'])).toEqual([{ topic: 'a', payload: Buffer.from('newer'), qos: 0 }])
    retained.change({ topic: 'a', payload: Buffer.alloc(0), qos: 0 })
    expect(retained.matching(['a'])).toEqual([])
  })
})
