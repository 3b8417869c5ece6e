import { describe, expect, it } from 'vitest'
import { isOrdinaryKey } from '../../src/core/record/key.ts'
import { bareReading, flatten, keyOf } from '../../src/formats/reading.ts'

describe('bareReading()', () => {
  it.each([
    ['21.5', 21.5],
    [' +3\n', 3],
    ['.5', 0.5],
    ['5.', 5],
    ['-1.5e-3', -0.0015],
    ['TRUE', true],
    ['False', false],
    ['on', 'on'],
    ['0x10', '0x10'],
    ['1,5', '1,5'],
    ['truefalse', 'truefalse'],
    ['NaN', undefined],
    [' unavailable ', undefined],
    ['', undefined],
  ])('reads %j as %j', (text, reading) => {
    expect(bareReading(text)).toBe(reading)
  })

  it('reads a million digits and a letter as a text, without backtracking', () => {
    const text = `${'1'.repeat(1_000_000)}x`
    expect(bareReading(text)).toBe(text)
  })
})

describe('keyOf()', () => {
  it.each([
    [['cellar', '', 'temperature'], 'cellar.temperature'],
    [['switch:0', 'Größe °C'], 'switch_0.Gr__e__C'],
    [['..'], '_'],
    [[''], '_'],
    [[], '_'],
  ])('makes of %j the key %s', (names, key) => {
    expect(keyOf(...names)).toBe(key)
  })

  it('gives long names different keys, which begin and end as the names do', () => {
    const keys = [...'123'].map(digit =>
      keyOf('docker', digit.padStart(200, 'x'), 'tags'.repeat(20), 'usage'),
    )
    expect(new Set(keys).size).toBe(3)
    for (const key of keys) {
      expect(isOrdinaryKey(key)).toBe(true)
      expect(key).toMatch(/^docker\.x+_[0-9a-f]{8}_.*tags\.usage$/)
    }
    expect(keyOf('x'.repeat(128))).toBe('x'.repeat(128))
  })
})

describe('flatten()', () => {
  it('gives each member the key that its names have', () => {
    const [long, inner] = ['x'.repeat(100), 'y'.repeat(100)]
    const value = { [long]: { [inner]: 1, b: { c: null, d: [1] } }, '': { e: 'nan', f: 'on' } }
    expect(flatten(value, '').map(({ key }) => key)).toEqual([keyOf(long, inner), keyOf(long, 'b', 'd'), 'f'])
  })

  it('does not copy a name of a million characters for each of its members', () => {
    const members = Array.from({ length: 10_000 }, (_, place) => [`m${place}`, place] as const)
    const found = flatten({ ['x'.repeat(1_000_000)]: Object.fromEntries(members) }, '')
    expect(new Set(found.map(({ key }) => key)).size).toBe(10_000)
  })
})
