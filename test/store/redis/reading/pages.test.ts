import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { maximumPageText } from '../../../../src/core/ports.ts'
import type { Page, PageQuery } from '../../../../src/store/contract.ts'
import { redisKeys } from '../../../../src/store/redis/keys.ts'
import { readNewest, readPage } from '../../../../src/store/redis/reading/pages.ts'
import { encodePayload } from '../../../../src/store/redis/record-member.ts'
import { redisOfTests } from '../../../helpers/redis-of-test.ts'
import { Interrupted } from '../interrupted.ts'

const redis = redisOfTests()

const thing = 'abcdefghijklmnop'
const key = 'temperature'

let database: Interrupted

interface Put {
  readonly datetime: number
  readonly writeNumber: number
  readonly place: number
  readonly value: string
}

/** What a commit leaves of records of one resource. */
async function put(records: readonly Put[]): Promise<void> {
  const { keys } = database
  const members = records.flatMap(({ datetime, writeNumber, place, value }) => {
    const head = Buffer.alloc(9)
    head.writeUIntBE(Math.floor(writeNumber / 2 ** 32), 0, 3)
    head.writeUInt32BE(writeNumber % 2 ** 32, 3)
    head.writeUInt16BE(place, 7)
    return [datetime, Buffer.concat([head, encodePayload({ value })])]
  })
  if (members.length > 0) await database.call('ZADD', keys.records(thing, key), ...members)
  const newest = Math.max(0, ...records.map(({ writeNumber }) => writeNumber))
  const known = Number(await database.call('HGET', keys.head, 'number'))
  await database.call('HSET', keys.head, 'number', Math.max(known, newest))
}

function counted(count: number, make: (index: number) => Partial<Put>): Put[] {
  return Array.from({ length: count }, (_, index) => {
    return { datetime: 1_000, writeNumber: 16 * (index + 1), place: 0, value: String(index), ...make(index) }
  })
}

async function read(query: Partial<PageQuery> = {}): Promise<Page> {
  const page = await readPage(database, thing, key, { order: 'asc', limit: 100_000, ...query })
  return page ?? expect.fail('there is no such resource')
}

/** The values of every page. @param between runs behind each page */
async function readAll(query: Partial<PageQuery>, between?: (page: Page) => Promise<unknown>) {
  const values: string[] = []
  let page = await read(query)
  // Bounded, so that a cursor that leads nowhere fails here instead of hanging.
  for (let pages = 1; pages < 1_000; pages++) {
    values.push(...valuesOf(page))
    await between?.(page)
    if (page.next === undefined) return values
    page = await read({ ...query, cursor: page.next })
  }
  return expect.fail('there is no end')
}

function valuesOf({ records }: Page): string[] {
  return records.map(({ value }) => value)
}

beforeEach(() => {
  database = new Interrupted(redisKeys(`test-${randomUUID()}`), 'node', redis.client)
})

describe('readPage()', () => {
  it('gives what is between its bounds, in pages of any size, in the order of datetime, write number and place', async () => {
    const writeNumber = fc.oneof(
      fc.integer({ min: 1, max: 600 }),
      fc.constantFrom(127, 128, 255, 256, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 48, 2 ** 53 - 1),
    )
    const datetime = fc.constantFrom(0, 1_000, 1_001, 2_000, 253_402_300_799_999)
    const record = fc.record({ datetime, writeNumber, place: fc.constantFrom(0, 1, 255, 256, 9_999) })
    const nameOf = (each: Omit<Put, 'value'>) => `${each.datetime} ${each.writeNumber} ${each.place}`
    const bound = fc.option(fc.constantFrom(0, 1_000, 1_001, 1_500, 2_001), { nil: undefined })
    const property = fc.asyncProperty(
      fc.uniqueArray(record, { minLength: 1, maxLength: 60, selector: nameOf }),
      bound,
      bound,
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom('asc', 'desc'),
      async (records, from, to, limit, order) => {
        database = new Interrupted(redisKeys(`test-${randomUUID()}`), 'node', redis.client)
        await put(records.map(each => ({ ...each, value: JSON.stringify(nameOf(each)) })))
        const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
        const expected = records
          .filter(({ datetime }) => datetime >= (from ?? 0) && datetime < (to ?? Number.POSITIVE_INFINITY))
          .toSorted((a, b) => a.datetime - b.datetime || a.writeNumber - b.writeNumber || a.place - b.place)
          .map(each => JSON.stringify(nameOf(each)))
        const read = await readAll({ ...range, limit, order })
        expect(read).toEqual(order === 'asc' ? expected : expected.toReversed())
      },
    )
    await fc.assert(property, { numRuns: 100 })
  })

  for (const order of ['asc', 'desc'] as const) {
    it(`finds its place among thousands of records of one datetime, newer ones coming meanwhile (${order})`, async () => {
      const crowd = counted(3_000, index => ({ place: index % 7 }))
      const before = counted(50, index => ({ datetime: 999, writeNumber: 50_000 + index }))
      const behind = counted(50, index => ({ datetime: 1_001, writeNumber: 50_050 + index }))
      await put([...before, ...crowd, ...behind])
      let newest = 50_100
      const values = await readAll({ order, limit: 130 }, async () => {
        newest += 16
        const records = [999, 1_000, 1_001].map(datetime => ({ datetime, writeNumber: newest, place: 0 }))
        await put(records.map(record => ({ ...record, value: `"${record.datetime} ${newest}"` })))
      })
      const old = values.filter(value => /^\d+$/.test(value))
      const expected = [...before, ...crowd, ...behind].map(({ value }) => value)
      expect(old).toEqual(order === 'asc' ? expected : expected.toReversed())
      const others = values.filter(value => !old.includes(value))
      expect(new Set(others).size).toBe(others.length)
    })

    it(`shows one moment, however many steps it takes (${order})`, async () => {
      await put(counted(1_800, index => ({ datetime: 1_000 + 10 * index })))
      let newest = 16 * 1_800
      database.meanwhile = async () => {
        database.meanwhile = undefined
        newest += 16
        // One write, in front of what was read and behind.
        await put(counted(300, place => ({ datetime: 1_001 + 60 * place, writeNumber: newest, place })))
      }
      const page = await read({ order })
      expect(page.records).toHaveLength(1_800)
      expect(page.next).toBeUndefined()
      expect((await read({ order })).records).toHaveLength(2_100)
    })
  }

  it('goes on behind a step in which everything is newer than its moment', async () => {
    await put(counted(1_200, index => ({ datetime: 10 * index })))
    const newer = 16 * 1_201
    database.meanwhile = async () => {
      database.meanwhile = undefined
      await put(counted(700, place => ({ datetime: 5_000, writeNumber: newer, place })))
    }
    expect(valuesOf(await read())).toEqual(counted(1_200, () => ({})).map(({ value }) => value))
  })

  it('ends behind the record with which values reach the most text of a page', async () => {
    const value = JSON.stringify('x'.repeat(60_000))
    await put(counted(60, index => ({ datetime: index, value })))
    const page = await read()
    expect(page.records).toHaveLength(Math.ceil(maximumPageText / value.length))
    const rest = await read({ cursor: page.next ?? '' })
    expect(rest.records[0]?.datetime).toBe(page.records.length)
  })

  it('has a cursor only where there is more', async () => {
    await put(counted(1_000, index => ({ datetime: index })))
    for (const limit of [499, 500, 501, 999, 1_000]) {
      expect((await read({ limit })).next === undefined, `limit ${limit}`).toBe(limit === 1_000)
    }
    expect((await read({ limit: 10, to: 10 })).next).toBeUndefined()
    expect((await read({ limit: 10, from: 990, order: 'desc' })).next).toBeUndefined()
    expect((await read({ limit: 10, to: 11 })).next).toBeDefined()
  })

  it('goes on where a record was that is gone', async () => {
    await put(counted(20, index => ({ place: index })))
    const { next } = await read({ limit: 8 })
    await database.call('ZREMRANGEBYRANK', database.keys.records(thing, key), 6, 9)
    expect(valuesOf(await read({ limit: 2, cursor: next ?? '' }))).toEqual(['10', '11'])
    expect(valuesOf(await read({ limit: 2, cursor: next ?? '', order: 'desc' }))).toEqual(['5', '4'])
  })

  it('finds nothing where a cursor is outside of the bounds', async () => {
    await put(counted(20, index => ({ datetime: index })))
    const { next = '' } = await read({ limit: 10 })
    expect(await read({ cursor: next, to: 5 })).toEqual({ records: [] })
    expect(await read({ cursor: next, from: 15, order: 'desc' })).toEqual({ records: [] })
  })

  it('reads on when Redis has no memory for writes', async () => {
    await put(counted(2, () => ({})))
    await redis.client.config('SET', 'maxmemory', 1)
    try {
      expect(valuesOf(await read())).toEqual(['0', '1'])
    } finally {
      await redis.client.config('SET', 'maxmemory', 0)
    }
  })

  it('tells what was emptied from what never was', async () => {
    const query = { order: 'asc', limit: 1 } as const
    expect(await readPage(database, thing, key, query)).toBeUndefined()
    await database.call('SADD', database.keys.emptied(thing), key)
    expect(await readPage(database, thing, key, query)).toEqual({ records: [] })
    expect(await readPage(database, thing, 'other', query)).toBeUndefined()
  })

  it('refuses a cursor that it never gave out', async () => {
    await put(counted(2, () => ({})))
    const { next = '' } = await read({ limit: 1 })
    for (const cursor of ['', 'x', next.slice(1), `${next}A`, `${next}=`, `${next} `, next.slice(0, -4)]) {
      await expect(read({ cursor }), cursor).rejects.toMatchObject({ reason: 'invalid_cursor' })
    }
  })
})

describe('readNewest()', () => {
  it('finds the newest record up to a write number behind any number of newer ones', async () => {
    const newer = counted(1_400, index => ({ datetime: 2_000 + index, writeNumber: 10_000 + index }))
    await put([...counted(3, () => ({})), ...newer])
    const { record, newest } = await readNewest(database, thing, key, 40)
    expect(record).toEqual({ key, datetime: 1_000, value: '1' })
    expect(newest).toBe(11_399)
    expect((await readNewest(database, thing, key, 0)).record).toBeUndefined()
    expect((await readNewest(database, thing, 'other', 40)).record).toBeUndefined()
  })
})
