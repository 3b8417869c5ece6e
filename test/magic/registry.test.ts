import { describe, expect, it } from 'vitest'
import type { MagicResource } from '../../src/magic/magic-resource.ts'
import { createMagicRegistry, hasMagic } from '../../src/magic/registry.ts'

const resource = (key: string): MagicResource => ({
  key,
  check: ({ value }) => ({ value }),
  apply: (_state, { value, datetime }) => ({ value, datetime }),
})

describe('createMagicRegistry()', () => {
  it.each([
    ['$geo', '$geo is a magic resource of Thingwire: yours needs another key'],
    ['$settings', '$settings is a magic resource of Thingwire: yours needs another key'],
    ['$meta', '$meta is a magic resource of Thingwire: yours needs another key'],
    ['$mine', 'two magic resources have the key $mine'],
  ])('refuses a second resource under %s', (key, message) => {
    expect(() => createMagicRegistry([resource('$mine'), resource(key)])).toThrow(message)
  })

  it.each(['', '$', 'mine', '$a.b', '$größe', `$${'a'.repeat(65)}`])('refuses %j as a key', key => {
    expect(() => createMagicRegistry([resource(key)])).toThrow()
  })

  it('knows the keys of all states, the built-in ones first', () => {
    expect(createMagicRegistry([resource('$a')]).keys).toEqual(['$geo', '$settings', '$meta', '$a'])
  })
})

describe('MagicRegistry.find()', () => {
  const { find } = createMagicRegistry([
    resource('$mine'),
    { ...resource('$split'), parts: { read: () => 1 } },
  ])

  it('knows a resource by its own key', () => {
    for (const key of ['$geo', '$settings', '$meta', '$mine', '$split']) expect(find(key)?.key).toBe(key)
  })

  it('knows the parts of a resource that has any', () => {
    expect(['$settings.', '$settings.a', '$settings.a.b'].map(key => find(key)?.key)).toEqual(
      Array(3).fill('$settings'),
    )
    expect(find('$split.a')?.key).toBe('$split')
  })

  it('knows nothing else', () => {
    const keys = [
      '$',
      '$GEO',
      '$geo ',
      '$geo.lat',
      '$setting',
      '$settingsx',
      '$meta.a',
      '$mine.a',
      'geo',
      '.',
      '$.a',
    ]
    expect(keys.filter(find)).toEqual([])
  })
})

describe('MagicRegistry.check()', () => {
  const registry = createMagicRegistry([resource('$mine')])
  const check = (key: string) => registry.check({ key, value: [2, 41], geo: undefined })

  it('asks the resource that the key names', () => {
    expect(check('$geo')).toHaveProperty('value.type', 'Point')
    expect(check('$settings.a')).toHaveProperty('value', [2, 41])
    expect(check('$mine')).toEqual({ value: [2, 41] })
  })

  it('refuses a key that names none, and says which there are', () => {
    for (const key of ['$', '$state', '$geo.lat', '$settingsx', '$meta.temperature']) {
      expect(check(key)).toMatchObject({ field: 'key', reason: 'unknown_magic_resource' })
    }
    const known = ['$geo', '$settings', '$settings.<path>', '$meta', '$mine']
    expect(known.filter(key => !(check('$') as { message: string }).message.includes(key))).toEqual([])
  })
})

describe('hasMagic()', () => {
  it('looks for one key that starts with $', () => {
    expect(hasMagic([{ key: 'a' }, { key: '$geo' }])).toBe(true)
    expect(hasMagic([{ key: 'a' }, { key: 'a.$' }])).toBe(false)
    expect(hasMagic([])).toBe(false)
  })
})
