import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Reading } from '../../src/embed/index.ts'
import type { Things } from '../../src/things.ts'
import { thingsOfTest } from './host-things.ts'

/** Collects what is heard; resolves when a reading of the key is there. */
function hear(things: Things): { readonly heard: Reading[]; until(key: string): Promise<void> } {
  const heard: Reading[] = []
  const stop = things.on('reading', reading => {
    heard.push(reading)
  })
  onTestFinished(stop)
  const until = (key: string) =>
    vi.waitFor(() => {
      if (!heard.some(reading => reading.key === key)) throw new Error(`${key} was not heard`)
    })
  return { heard, until }
}

describe("things.on('reading')", () => {
  it('hears each record of each write once, in order, stored by then', async () => {
    const { things, thingId } = await thingsOfTest()
    const { heard, until } = hear(things)
    const stored: unknown[] = []
    onTestFinished(
      things.on('reading', async ({ key }) => {
        stored.push((await things.read(thingId, key))[0]?.key)
      }),
    )
    const datetime = new Date('2026-01-01T00:00:00Z')
    await things.write(thingId, [
      { key: 'a', value: { deep: [1] }, geo: { lat: 1, long: 2 }, datetime },
      { key: 'b', value: 'text', datetime },
    ])
    // It is there already, and is not heard again.
    await things.write(thingId, [{ key: 'b', value: 'text', datetime }])
    await things.write(thingId, [{ key: 'end', value: true, datetime }])
    await until('end')
    expect(heard).toEqual([
      { thingId, key: 'a', value: { deep: [1] }, geo: { lat: 1, long: 2 }, datetime },
      { thingId, key: 'b', value: 'text', datetime },
      { thingId, key: 'end', value: true, datetime },
    ])
    await vi.waitFor(() => expect(stored).toEqual(['a', 'b', 'end']))
  })

  it('hears what is not stored, and not what is not broadcast', async () => {
    const { things, thingId } = await thingsOfTest()
    const { heard, until } = hear(things)
    await things.write(thingId, [{ key: 'live', value: 1 }], { store: false })
    await things.write(thingId, [{ key: 'quiet', value: 1 }], { broadcast: false })
    await things.write(thingId, [{ key: 'end', value: 1 }])
    await until('end')
    expect(heard.map(({ key }) => key)).toEqual(['live', 'end'])
  })

  it('hears a magic record once, as it was written', async () => {
    const { things, thingId } = await thingsOfTest()
    const { heard, until } = hear(things)
    await things.write(thingId, [{ key: '$settings.a', value: 1 }])
    await vi.waitFor(async () => expect(await things.read(thingId, '$settings')).toHaveLength(1))
    await things.write(thingId, [{ key: 'end', value: 1 }])
    await until('end')
    expect(heard.map(({ key }) => key)).toEqual(['$settings.a', 'end'])
  })

  it('goes on when a listener throws or rejects, and tells onDefect', async () => {
    const defects: unknown[] = []
    const { things, thingId } = await thingsOfTest({ onDefect: error => defects.push(error) })
    things.on('reading', () => {
      throw new Error('thrown')
    })
    things.on('reading', async () => {
      throw new Error('rejected')
    })
    const { heard, until } = hear(things)
    await things.write(thingId, [{ key: 'a', value: 1 }])
    await things.write(thingId, [{ key: 'end', value: 1 }])
    await until('end')
    expect(heard.map(({ key }) => key)).toEqual(['a', 'end'])
    await vi.waitFor(() => expect(defects).toHaveLength(4))
    expect(defects.map(String)).toEqual(expect.arrayContaining(['Error: thrown', 'Error: rejected']))
  })

  it('gives each listener values of its own', async () => {
    const { things, thingId } = await thingsOfTest()
    onTestFinished(
      things.on('reading', ({ value }) => {
        Object.assign(value ?? {}, { a: 'changed' })
      }),
    )
    const { heard, until } = hear(things)
    await things.write(thingId, [{ key: 'k', value: { a: 1 } }])
    await until('k')
    expect(heard).toMatchObject([{ value: { a: 1 } }])
  })

  it('stops between two records of a write', async () => {
    const { things, thingId } = await thingsOfTest()
    const keys: string[] = []
    const stop = things.on('reading', ({ key }) => {
      keys.push(key)
      stop()
    })
    const { until } = hear(things)
    await things.write(thingId, [
      { key: 'first', value: 1 },
      { key: 'second', value: 1 },
    ])
    await things.write(thingId, [{ key: 'end', value: 1 }])
    await until('end')
    expect(keys).toEqual(['first'])
  })

  it('knows no other event, and wants a function', async () => {
    const { things } = await thingsOfTest()
    const on = things.on as (...given: unknown[]) => unknown
    expect(() => on('readings', () => {})).toThrow(
      'on() must be given the event "reading", but it is "readings"',
    )
    expect(() => on('reading')).toThrow('must be a function, but it is missing')
  })
})
