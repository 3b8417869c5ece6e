import { describe, expect, it } from 'vitest'
import { magicRules } from '../../src/magic/registry.ts'

const check = (key: string) => magicRules.check({ key, value: [2, 41], geo: undefined })

describe('magicRules.check()', () => {
  it('asks the resource that the key names', () => {
    expect(check('$geo')).toHaveProperty('value.type', 'Point')
    expect(check('$settings.a')).toHaveProperty('value', [2, 41])
  })

  it('refuses a key that names none', () => {
    for (const key of ['$', '$state', '$geo.lat']) {
      expect(check(key)).toMatchObject({ field: 'key', reason: 'unknown_magic_resource' })
    }
  })
})
