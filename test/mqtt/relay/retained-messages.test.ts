import { describe, expect, it, onTestFinished } from 'vitest'
import { retainedName } from '../../../src/mqtt/relay/documents.ts'
import { RetainedMessages } from '../../../src/mqtt/relay/retained-messages.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openStore } from '../../../src/store/open-store.ts'

async function retain(...topics: readonly string[]): Promise<RetainedMessages> {
  const store = await openStore(createMemoryStore())
  onTestFinished(() => store.close())
  const retained = new RetainedMessages(store.documents, { now: Date.now })
  for (const topic of topics) retained.change(message(topic, topic))
  return retained
}

let order = 0

function message(topic: string, text: string) {
  return { topic, payload: Buffer.from(text), qos: 1 as const, order: ++order, brokerId: 'broker' }
}

/** Topic and payload of those that filters match. */
function matching(retained: RetainedMessages, filters: readonly string[]): string[] {
  const found = [...retained.matching(filters)].flatMap(piece => [...piece])
  return found.map(topic => `${topic} ${retained.newest(topic)?.payload}`)
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
    expect(matching(retained, filters).sort()).toEqual(found.map(topic => `${topic} ${topic}`))
  })

  it('gives the newest message of a topic, and none that was removed', async () => {
    const retained = await retain('a')
    retained.change(message('a', 'newer'))
    expect(matching(retained, ['a'])).toEqual(['a newer'])
    retained.change(message('a', ''))
    expect(matching(retained, ['a', '#'])).toEqual([])
  })

  it('reads what an older version has put, and what another node has put or announced, the newest', async () => {
    const store = await openStore(createMemoryStore())
    onTestFinished(() => store.close())
    const put = (topic: string, text: string, place: object) =>
      store.documents.put(
        {
          [retainedName(topic)]: { topic, payload: Buffer.from(text).toString('base64'), qos: 1, ...place },
        },
        'keep',
      )
    await put('a', 'old', {})
    const retained = new RetainedMessages(store.documents, { now: Date.now })
    await retained.load()
    expect(matching(retained, ['#'])).toEqual(['a old'])
    await put('a', 'old still', {})
    await retained.hear(retainedName('a'))
    expect(matching(retained, ['#'])).toEqual(['a old still'])
    const [first, second] = [message('a', 'first'), message('a', 'second')]
    await retained.announced(second)
    // Of the same broker: what was announced is on its way into the store.
    await put('a', 'first', { order: first.order, brokerId: first.brokerId })
    await retained.hear(retainedName('a'))
    expect(matching(retained, ['#'])).toEqual(['a second'])
    await put('a', 'of another', { order: 1, brokerId: 'another' })
    await retained.hear(retainedName('a'))
    expect(matching(retained, ['#'])).toEqual(['a of another'])
  })
})
