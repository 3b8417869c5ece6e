import { describe, expect, it, onTestFinished } from 'vitest'
import type { Commit } from '../../src/core/ports.ts'
import { Live } from '../../src/live/live.ts'
import type { LiveWrite } from '../../src/live/live-write.ts'
import type { Subscriber } from '../../src/live/subscribers.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { newRecordOf } from './commits.ts'

const kinds = {
  'in memory': async () => createMemoryStore(),
  'on LevelDB': async () => createLevelStore({ location: await temporaryDirectory() }),
} as const

async function start(kind: keyof typeof kinds) {
  const store = await openStore(await kinds[kind]())
  const { records, nodes } = store
  const live = new Live({ records, nodes, isShared: false }, 0)
  const close = async () => {
    await live.close()
    await store.close()
  }
  onTestFinished(close)
  const write = (thingId: string, value: number, more: Partial<Commit> = {}) => {
    const { broadcast = true, stored = true } = more
    const of = { store: stored, broadcast, answer: {} }
    return records.append({ thingId, records: [newRecordOf('k', String(value), { datetime: value })], ...of })
  }
  return { live, records, write, close }
}

class Listener implements Subscriber {
  readonly seen: string[] = []
  readonly refused: string[] = []
  #waiting: { readonly value: string; readonly resolve: () => void } | undefined

  deliver(write: LiveWrite): void {
    this.seen.push(...write.commit.records.map(({ value }) => value))
    if (this.seen.at(-1) === this.#waiting?.value) this.#waiting?.resolve()
  }

  deliverRefused(thingId: string, payload: Buffer): void {
    this.refused.push(`${thingId} ${payload}`)
  }

  until(value: number): Promise<void> {
    if (this.seen.includes(String(value))) return Promise.resolve()
    return new Promise(resolve => {
      this.#waiting = { value: String(value), resolve }
    })
  }
}

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('on a store %s', kind => {
  it('a subscriber gets what is written of its thing while it is subscribed, unless that is not broadcast', async () => {
    const { live, write } = await start(kind)
    const [ofA, ofEvery] = [new Listener(), new Listener()]
    live.subscribe('a', ofA)
    live.subscribe(undefined, ofEvery)
    live.subscribe('a', ofEvery)
    await write('a', 1)
    await write('b', 2)
    await write('a', 3, { broadcast: false })
    await write('a', 4, { stored: false })
    await ofA.until(4)
    await ofEvery.until(4)
    live.unsubscribe('a', ofA)
    await write('a', 5)
    await ofEvery.until(5)
    expect(ofA.seen).toEqual(['1', '4'])
    expect(ofEvery.seen).toEqual(['1', '2', '4', '5'])
    expect(live.writeNumber).toBe(5)
  })

  it('snapshot() calls back where everything that it shows was delivered, and nothing that it does not', async () => {
    const { live, write } = await start(kind)
    const listener = new Listener()
    live.subscribe('a', listener)
    let isOver = false
    let count = 0
    const writing = Promise.all(
      [1, 2, 3].map(async () => {
        while (!isOver) {
          await write('a', ++count)
          // A store in memory is done at once.
          await new Promise(resolve => setImmediate(resolve))
        }
      }),
    )
    for (let round = 0; round < 60; round++) {
      let delivered: string[] = []
      let writeNumber = -1
      const snapshot = await live.snapshot(() => {
        delivered = [...listener.seen]
        writeNumber = live.writeNumber
      })
      const latest: string[] = []
      for await (const page of snapshot.latest({ thingId: 'a', key: 'k' })) {
        latest.push(...page.map(({ record }) => record.value))
      }
      await snapshot.close()
      const newest = delivered
        .map(Number)
        .toSorted((a, b) => a - b)
        .at(-1)
      expect(latest).toEqual(newest === undefined ? [] : [String(newest)])
      expect(writeNumber).toBe(delivered.length)
      expect(snapshot.writeNumber).toBe(delivered.length)
    }
    isOver = true
    await writing
  })

  it('catchUp() calls back where everything that was written before was delivered', async () => {
    const { live, write } = await start(kind)
    const listener = new Listener()
    live.subscribe('a', listener)
    for (let count = 1; count <= 20; count++) {
      await write('a', count)
      let delivered = 0
      await live.catchUp(() => {
        delivered = listener.seen.length
      })
      expect(delivered).toBe(count)
    }
  })

  it('sendRefused() sends to the subscribers of the thing, and of every thing', async () => {
    const { live } = await start(kind)
    const [ofA, ofB, ofEvery] = [new Listener(), new Listener(), new Listener()]
    live.subscribe('a', ofA)
    live.subscribe('b', ofB)
    live.subscribe(undefined, ofEvery)
    live.subscribe('a', { deliver: () => {} })
    live.sendRefused('a', Buffer.from('{}'))
    expect([ofA.refused, ofB.refused, ofEvery.refused]).toEqual([['a {}'], [], ['a {}']])
  })

  it('close() ends everything, also while a snapshot waits for its place', async () => {
    const { live, records, write, close } = await start(kind)
    const listener = new Listener()
    live.subscribe('a', listener)
    const writing = write('a', 1)
    const taking = live.snapshot(() => {}).catch(() => {})
    await writing
    const seen = listener.seen.length
    live.close()
    await write('a', 2)
    await new Promise(resolve => setImmediate(resolve))
    expect(listener.seen.length).toBe(seen)
    expect(live.room()).toBeUndefined()
    await close()
    await expect(records.snapshot()).rejects.toMatchObject({ reason: 'store_unavailable' })
    void taking
  })
})
