import { expect, it, test } from 'vitest'
import {
  faultOfGrant,
  isNarrower,
  isServable,
  mayRead,
  mayWrite,
  servedGrants,
  type TopicGrant,
} from '../../../src/core/topics/topic-grant.ts'

const grants: readonly TopicGrant[] = [
  { filter: 'tele/+/state', access: 'read' },
  { filter: 'cmnd/#', access: 'write' },
]

test('reading and writing are granted apart', () => {
  expect(mayRead(grants, 'tele/+/state')).toBe(true)
  expect(mayRead(grants, 'tele/plug/state')).toBe(true)
  expect(mayRead(grants, 'tele/#')).toBe(false)
  expect(mayRead(grants, 'cmnd/#')).toBe(false)
  expect(mayWrite(grants, 'cmnd/plug')).toBe(true)
  expect(mayWrite(grants, 'tele/plug/state')).toBe(false)
})

it.each(['tele/#', 'a', 'a/+/b', '/a', 'homeassistant/+/state', 'stat', 'things2/#', 'v2x'])(
  'isServable() takes %s',
  filter => expect(isServable(filter)).toBe(true),
)

it.each([
  '',
  '#',
  '+/a',
  'things',
  'things/#',
  'things/+/values/#',
  'v2',
  'v2/#',
  '$SYS/#',
  '$share/a/b',
  '$x',
  'a#',
  'a/#/b',
  'a\0b',
  'a\ud800',
  'a'.repeat(1_025),
])('isServable() refuses %j', filter => expect(isServable(filter)).toBe(false))

test('faultOfGrant() names what is wrong', () => {
  const served = ['tele/#', 'cmnd/#']
  const read = (filter: string) => ({ filter, access: 'read' as const })
  expect(faultOfGrant(read('tele/plug'), served)).toBeUndefined()
  expect(faultOfGrant(read('stat/#'), served)).toBe('stat/# is not within the option topics (tele/#, cmnd/#)')
  expect(faultOfGrant(read('#'), served)).toContain('not within')
  expect(faultOfGrant(read('tele/a#'), served)).toBe('tele/a# is no topic filter')
  expect(faultOfGrant(read('tele/#'), [])).toContain('set its option topics')
})

test('of grants, those are left that are served', () => {
  expect(servedGrants(grants, ['tele/#'])).toEqual([grants[0]])
  expect(servedGrants(grants, [])).toEqual([])
})

test('isNarrower() sees what is withdrawn, and no other change', () => {
  expect(isNarrower(grants, grants)).toBe(false)
  expect(isNarrower([{ filter: 'tele/#', access: 'read' }, ...grants.slice(1)], grants)).toBe(false)
  expect(isNarrower(grants.slice(1), grants)).toBe(true)
  expect(
    isNarrower(
      grants.map(({ filter }) => ({ filter, access: 'read' as const })),
      grants,
    ),
  ).toBe(true)
})
