import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Commit } from '../../src/core/ports.ts'
import type { MagicResource } from '../../src/magic/magic-resource.ts'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { redisKeys } from '../../src/store/redis/keys.ts'
import { redisOfTests } from '../helpers/redis-of-test.ts'
import { type OpenRetained, openRetained, startThing } from './open-retained.ts'

const things = ['aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb', 'cccccccccccccccc']
const [one = '', two = ''] = things
const removals = 'magic/removals/'
const settings = (value: unknown) => ({ key: '$settings', value })

/** What is applied, in order: twice, out of turn or not at all is seen. */
const list: MagicResource = {
  key: '$list',
  check: ({ value }) => ({ value }),
  apply: (state, { value, datetime }) => ({ value: [...listIn(state?.value), value], datetime }),
}

function listIn(value: unknown): readonly unknown[] {
  return (value as readonly unknown[] | undefined) ?? []
}

const redis = redisOfTests()

/** Two handlers on one store. */
async function openTwo() {
  const prefix = randomUUID()
  const open = () =>
    openRetained({ driver: createRedisStore({ url: redis.url, prefix }), magicResources: [list] })
  const nodes = [await open(), await open()] as const
  const { locks } = redisKeys(prefix)
  const task = 'task/magic'
  return {
    nodes,
    leader: () => redis.client.hget(locks, task),
    /** As if it had expired: whoever led finds out when it asks, or puts something. */
    loseLead: () => redis.client.hdel(locks, task),
  }
}

async function applied({ store }: OpenRetained, thingId: string): Promise<readonly unknown[]> {
  const state = await store.records.state(thingId, '$list')
  return listIn(state && JSON.parse(state.value))
}

describe('RetainedState on two nodes', () => {
  it('applies once and in order while the lead passes to and fro', async () => {
    const { nodes, leader, loseLead } = await openTwo()
    let written = 0
    const writeMore = async (count: number) => {
      for (const last = written + count; written < last; written++) {
        const node = nodes[written % 2] ?? nodes[0]
        await Promise.all(things.map(thingId => node.write(thingId, { key: '$list', value: written })))
      }
    }
    for (let round = 0; round < 6; round++) {
      await writeMore(10)
      const before = await leader()
      await loseLead()
      // The one that led may not know it yet.
      for (let now: string | null = null; now === null || now === before; now = await leader()) {
        await writeMore(1)
      }
      await writeMore(50)
      for (const thingId of things) {
        await expect.poll(async () => (await applied(nodes[0], thingId)).length).toBe(written)
      }
    }
    const all = Array.from({ length: written }, (_, value) => value)
    for (const thingId of things) {
      expect(await applied(nodes[1], thingId)).toEqual(all)
      for (const node of nodes) {
        // Each node is told every state once.
        const told = () => node.told(thingId).map(({ value }) => listIn(value).length)
        await expect.poll(() => told().length).toBe(written)
        expect(told()).toEqual(all.map(value => value + 1))
      }
    }
  })

  it('removes on whichever node that is asked, also while none leads', async () => {
    const { nodes, loseLead } = await openTwo()
    for (let round = 0; round < 3; round++) {
      for (const thingId of [one, two]) await nodes[0].write(thingId, settings({ round }))
      if (round > 0) await loseLead()
      await Promise.all([
        nodes[0].retained.remove(one, '$settings'),
        nodes[1].retained.remove(two, '$settings'),
      ])
      for (const { store } of nodes) {
        for (const thingId of [one, two]) {
          expect(await store.records.state(thingId, '$settings')).toBeUndefined()
        }
        expect(await store.documents.list(removals, { limit: 10 })).toEqual([])
      }
    }
    for (const thingId of [one, two]) {
      const rounds = [0, 1, 2].flatMap(round => [settings({ round }), settings(undefined)])
      for (const node of nodes) await expect.poll(() => node.told(thingId)).toEqual(rounds)
    }
  })

  it('rejects a removal when the node that was asked is closed before it is done', async () => {
    const { nodes, loseLead } = await openTwo()
    await nodes[0].write(one, settings({}))
    await nodes[0].retained.whenApplied()
    await nodes[0].close()
    await loseLead()
    const removing = nodes[1].retained.remove(one, '$settings')
    const closing = nodes[1].retained.close()
    await expect(removing).rejects.toMatchObject({ reason: 'store_unavailable' })
    await closing
  })
})

describe('RetainedState that starts', () => {
  it('removes what was asked for behind what was acknowledged before, be that told late', async () => {
    const { told } = await openRetained({
      duringStart: [settings({ a: 1 })],
      between: ({ nodes, records, documents }) => {
        const late: (() => void)[] = []
        const reportLate = () => {
          for (const tell of late.splice(0)) tell()
        }
        const acknowledged = new Promise(resolve => records.onCommit(resolve))
        return {
          nodes,
          records: {
            ...records,
            onCommit: (listener: (commit: Commit) => void) =>
              records.onCommit(commit => late.push(() => listener(commit))),
            // Another node's commits are told at the latest by then.
            catchUp: () => {
              reportLate()
              return records.catchUp()
            },
            readLog: (part: Parameters<typeof records.readLog>[0]) => {
              reportLate()
              return records.readLog(part)
            },
          },
          documents: {
            ...documents,
            list: async (prefix: string, page: Parameters<typeof documents.list>[1]) => {
              if (prefix === removals) {
                await acknowledged
                await documents.put({ [`${removals}${startThing}/random/$settings`]: {} }, 'keep')
              }
              return await documents.list(prefix, page)
            },
          },
        }
      },
    })
    await expect.poll(() => told(startThing)).toEqual([settings({ a: 1 }), settings(undefined)])
  })
})

describe('RetainedState that was not told everything', () => {
  it('reads it in the log when it learns of that, and applies nothing twice', async () => {
    let gap = () => {}
    let isDeaf = false
    const opened = await openRetained({
      magicResources: [list],
      between: store => ({
        nodes: {
          ...store.nodes,
          onGap: listener => {
            gap = listener
            return () => {}
          },
        },
        records: {
          ...store.records,
          onCommit: (listener: (commit: Commit) => void) =>
            store.records.onCommit(commit => {
              if (!isDeaf) listener(commit)
            }),
        },
      }),
    })
    for (let value = 0; value < 9; value++) {
      isDeaf = value % 3 === 1
      await opened.write(one, { key: '$list', value })
      isDeaf = false
      if (value % 3 === 1) gap()
    }
    await expect.poll(() => applied(opened, one)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('keeps how far it has come, also where nothing was to be applied', async () => {
    const { write, store } = await openRetained()
    for (let value = 0; value < 10_000; value++) await write(one, { key: 'ordinary', value })
    const through = async () => await store.documents.get('magic/applied')
    await expect.poll(through).toEqual({ writeNumber: 10_000 })
  })
})
