import { describe, expect, it } from 'vitest'
import type { MagicResource } from '../../src/magic/magic-resource.ts'
import { openRetained } from './open-retained.ts'

const one = 'aaaaaaaaaaaaaaaa'
const two = 'bbbbbbbbbbbbbbbb'
const set = (name: string, value: unknown) => ({ key: `$settings.${name}`, value })
const settings = (value: unknown) => ({ key: '$settings', value })
const at = (long: number, datetime?: string) => ({ key: '$geo', value: [long, 0], datetime })
const position = (long: number) => ({ key: '$geo', value: { type: 'Point', coordinates: [long, 0] } })

/** Keeps the sum of what is written, and fails at `fault`. */
const sum: MagicResource = {
  key: '$sum',
  check: ({ value }) => ({ value }),
  apply(state, { value, datetime }) {
    if (value === 'fault') throw new Error('a fault of the host')
    if (value === 'date') return { value: 1, datetime: Number.NaN }
    if (value === 'none') return { value: undefined, datetime }
    if (value === 'function') return { value: () => 1, datetime }
    if (value === 'refuse') return { field: 'value', reason: 'invalid_magic_value', message: 'not now' }
    return { value: ((state?.value as number | undefined) ?? 0) + (value as number), datetime }
  },
}

describe('RetainedState', () => {
  it('applies what was acknowledged and announces each new state, in write order', async () => {
    const { retained, write, told, store } = await openRetained()
    await write(one, set('a', 1), { key: 'ordinary', value: 1 })
    await write(one, settings({ b: { c: 2 } }), at(1))
    await write(one, set('b.c', null))
    await retained.whenApplied()
    expect(told()).toEqual([
      settings({ a: 1 }),
      settings({ a: 1, b: { c: 2 } }),
      position(1),
      settings({ a: 1, b: {} }),
    ])
    expect(await store.records.state(one, '$settings')).toMatchObject({ value: '{"a":1,"b":{}}' })
    expect(await store.records.state(one, '$geo')).toMatchObject({ key: '$geo' })
  })

  it('announces each state of one write, in its order', async () => {
    const { retained, write, told } = await openRetained()
    await write(one, set('a', 1), at(1), set('a', 2), at(2))
    await retained.whenApplied()
    expect(told()).toEqual([settings({ a: 1 }), position(1), settings({ a: 2 }), position(2)])
  })

  it('keeps things apart', async () => {
    const { retained, write, store } = await openRetained()
    await Promise.all([write(one, set('a', 1)), write(two, set('a', 2)), write(one, set('b', 1))])
    await retained.whenApplied()
    expect((await store.records.state(one, '$settings'))?.value).toBe('{"a":1,"b":1}')
    expect((await store.records.state(two, '$settings'))?.value).toBe('{"a":2}')
  })

  it('applies each of many writes at once exactly once, in the order in which they were committed', async () => {
    const { retained, write, told, commits } = await openRetained({ magicResources: [sum] })
    const things = [one, two, 'cccccccccccccccc']
    await Promise.all(
      Array.from({ length: 900 }, (_, index) => {
        const thingId = things[index % 3] ?? one
        return write(thingId, { key: '$sum', value: 1 }, at(index % 180))
      }),
    )
    await retained.whenApplied()
    for (const thingId of things) {
      const written = commits.flatMap(commit => (commit.thingId === thingId ? commit.records : []))
      const positions = written.filter(({ key }) => key === '$geo').map(({ value }) => JSON.parse(value))
      const states = told(thingId)
      expect(states.filter(({ key }) => key === '$sum').map(({ value }) => value)).toEqual(
        Array.from({ length: 300 }, (_, index) => index + 1),
      )
      expect(states.filter(({ key }) => key === '$geo').map(({ value }) => value)).toEqual(positions)
    }
  })

  it('does not apply a resend that was stored before', async () => {
    const { retained, write, told } = await openRetained({ magicResources: [sum] })
    const record = { key: '$sum', value: 1, datetime: '20260101000000' }
    await write(one, record)
    await write(one, record)
    await retained.whenApplied()
    expect(told()).toEqual([{ key: '$sum', value: 1 }])
  })

  it('tells what a write that is not kept would give, from what is kept each time', async () => {
    const { retained, write, writeWith, told, store } = await openRetained()
    await write(one, set('a', 1))
    await writeWith(one, { store: false }, set('b', 2), set('c', 3))
    await writeWith(one, { store: false }, set('d', 4), at(1))
    await write(one, set('e', 5))
    await retained.whenApplied()
    expect(told()).toEqual([
      settings({ a: 1 }),
      settings({ a: 1, b: 2 }),
      settings({ a: 1, b: 2, c: 3 }),
      settings({ a: 1, d: 4 }),
      position(1),
      settings({ a: 1, e: 5 }),
    ])
    expect(await store.records.state(one, '$geo')).toBeUndefined()
  })

  it('tells it, too, of a write that comes while it reads at the start what is not applied', async () => {
    let open = () => {}
    const opened = new Promise<void>(resolve => (open = resolve))
    const { retained, write, writeWith, told } = await openRetained({
      between: ({ records }) => ({
        records: {
          ...records,
          readLog: async query => {
            await opened
            return await records.readLog(query)
          },
        },
      }),
    })
    await write(one, set('a', 1))
    await writeWith(one, { store: false }, set('b', 2))
    await write(one, set('c', 3))
    open()
    await retained.whenApplied()
    expect(told()).toEqual([settings({ a: 1 }), settings({ a: 1, b: 2 }), settings({ a: 1, c: 3 })])
  })

  it('changes the state without a word for a write that is not to be broadcast', async () => {
    const { retained, writeWith, told, store } = await openRetained()
    await writeWith(one, { broadcast: false }, set('a', 1))
    await writeWith(one, {}, set('b', 2))
    await retained.whenApplied()
    expect(told()).toEqual([settings({ a: 1, b: 2 })])
    expect((await store.records.state(one, '$settings'))?.value).toBe('{"a":1,"b":2}')
  })

  it('refuses a change that a resource refuses, and goes on', async () => {
    const { retained, write, told, refusals } = await openRetained({ magicResources: [sum] })
    await write(one, { key: '$sum', value: 1 }, { key: '$sum', value: 'refuse' }, { key: '$sum', value: 2 })
    await retained.whenApplied()
    expect(told().map(({ value }) => value)).toEqual([1, 3])
    expect(refusals).toMatchObject([{ thingId: one, record: { value: '"refuse"' } }])
    expect(refusals[0]?.error).toMatchObject({
      reason: 'invalid_magic_value',
      errors: [{ index: 1, field: 'value', reason: 'invalid_magic_value' }],
    })
  })

  it.each(['fault', 'date', 'none', 'function'])('survives a resource with a defect (%s)', async value => {
    const { retained, write, told, refusals, defects } = await openRetained({ magicResources: [sum] })
    await write(one, { key: '$sum', value }, { key: '$sum', value: 2 })
    await write(two, set('a', 1))
    await retained.whenApplied()
    expect(told(one)).toEqual([{ key: '$sum', value: 2 }])
    expect(told(two)).toEqual([settings({ a: 1 })])
    expect(defects).toHaveLength(1)
    expect(refusals.map(({ error }) => error.reason)).toEqual(['internal_error'])
  })

  it('waits while too much waits to be told', async () => {
    let give = () => {}
    const room = new Promise<void>(resolve => (give = resolve))
    const { retained, write, told, store } = await openRetained({ room })
    await write(one, set('a', 1))
    for (let turn = 0; turn < 20; turn++) await store.documents.get('turn')
    expect(told()).toEqual([])
    give()
    await retained.whenApplied()
    expect(told()).toEqual([settings({ a: 1 })])
  })

  it('holds a state to the bounds of a value', async () => {
    const big: MagicResource = {
      ...sum,
      apply: (_, { datetime }) => ({ value: 'x'.repeat(70_000), datetime }),
    }
    const { retained, write, told, refusals } = await openRetained({ magicResources: [big] })
    await write(one, { key: '$sum', value: 1 })
    await retained.whenApplied()
    expect(told()).toEqual([])
    expect(refusals.map(({ error }) => error.reason)).toEqual(['value_too_large'])
  })

  it('applies a write whose states are more than one commit holds', async () => {
    const { retained, write, told, commits } = await openRetained()
    await write(one, settings({ fill: 'x'.repeat(60_000) }))
    await write(one, ...Array.from({ length: 100 }, (_, index) => set('n', index)))
    await retained.whenApplied()
    const numbers = told().map(({ value }) => (value as { n?: number }).n)
    expect(numbers).toEqual([undefined, ...Array.from({ length: 100 }, (_, index) => index)])
    const sizes = commits.map(({ latest }) =>
      latest.reduce((sum, { record }) => sum + (record?.value.length ?? 0), 0),
    )
    expect(Math.max(...sizes)).toBeLessThan(1_200_000)
  })

  it('tells all that a large write that is not kept would give', async () => {
    const { retained, write, writeWith, told } = await openRetained()
    await write(one, settings({ fill: 'x'.repeat(60_000) }))
    await writeWith(
      one,
      { store: false },
      ...Array.from({ length: 60 }, (_, index) => set(`n${index}`, index)),
    )
    await retained.whenApplied()
    expect(told()).toHaveLength(61)
    expect(Object.keys(told().at(-1)?.value as object)).toHaveLength(61)
  })
})

describe('RetainedState.remove()', () => {
  it('removes the state after what was acknowledged before', async () => {
    const { retained, write, told, store } = await openRetained()
    await Promise.all(Array.from({ length: 20 }, (_, index) => write(one, at(index))))
    await store.records.remove(one, '$geo', {})
    await retained.remove(one, '$geo')
    expect(told().slice(-2)).toEqual([position(19), { key: '$geo', value: undefined }])
    expect(await store.records.state(one, '$geo')).toBeUndefined()
    await write(one, at(5, '20200101000000'))
    await retained.whenApplied()
    expect(told().at(-1)).toEqual(position(5))
  })

  it('makes the newest position that is left the state, and is silent where that is what it was', async () => {
    const { retained, write, told, store } = await openRetained()
    await write(one, at(1, '20200101000000'), at(2, '20200102000000'))
    await store.records.remove(one, '$geo', { from: Date.UTC(2020, 0, 2) })
    await retained.remove(one, '$geo')
    await retained.remove(one, '$geo')
    expect(told()).toEqual([position(1), position(2), position(1)])
  })

  it('removes what is at a path and announces the document that is left', async () => {
    const { retained, write, told } = await openRetained()
    await write(one, settings({ a: { b: 1, c: 2 } }))
    await retained.remove(one, '$settings.a.b')
    await retained.remove(one, '$settings.x')
    expect(told()).toEqual([settings({ a: { b: 1, c: 2 } }), settings({ a: { c: 2 } })])
  })

  it('announces nothing where there is no state', async () => {
    const { retained, told } = await openRetained()
    for (const key of ['$geo', '$settings', '$settings.a', '$none']) await retained.remove(one, key)
    expect(told()).toEqual([])
  })

  it('rejects when the handler is closed before', async () => {
    const { retained, close } = await openRetained()
    await close()
    await expect(retained.remove(one, '$geo')).rejects.toMatchObject({ reason: 'store_unavailable' })
  })
})

describe('RetainedState.read()', () => {
  it('gives the state, or a part of it, null where it has none', async () => {
    const { retained, write } = await openRetained()
    expect(await retained.read(one, '$settings')).toBeUndefined()
    expect(await retained.read(one, '$settings.a')).toBeUndefined()
    expect(await retained.read(one, '$none')).toBeUndefined()
    await write(one, settings({ a: { b: [1] } }))
    await retained.whenApplied()
    const { datetime } = (await retained.read(one, '$settings')) ?? {}
    expect(await retained.read(one, '$settings.a.b')).toEqual({
      key: '$settings.a.b',
      datetime,
      value: '[1]',
    })
    expect(await retained.read(one, '$settings.a.c')).toEqual({
      key: '$settings.a.c',
      datetime,
      value: 'null',
    })
    expect(await retained.stateKeys(one)).toEqual(['$settings'])
  })
})

describe('RetainedState as a follower of the commit log', () => {
  it('needs the writes with magic records that are not applied yet', async () => {
    let release = () => {}
    let released: Promise<void> | undefined
    const { retained, write, store } = await openRetained({
      onAppend: async (write, append) => {
        await released
        return await append(write)
      },
    })
    await write(one, set('a', 1))
    await retained.whenApplied()
    released = new Promise<void>(resolve => (release = resolve))
    await write(two, set('a', 1))
    await write(one, set('a', 2), { key: 'ordinary', value: 1 })
    const isNeeded = await retained.startTrim()
    const log = await store.records.readLog({ after: 0, before: Infinity, order: 'asc', limit: 100 })
    expect(log.map(commit => [commit.thingId, isNeeded(commit)])).toEqual([
      [one, false],
      [two, true],
      [one, true],
    ])
    expect(isNeeded({ ...(log[1] ?? expect.fail()), records: [] })).toBe(false)
    release()
    await retained.whenApplied()
    expect(log.map(await retained.startTrim())).toEqual([false, false, false])
    expect(retained.wants({ records: [] })).toBe(false)
    expect(log.map(commit => retained.wants(commit))).toEqual([true, true, true])
  })
})
