import { expect, it, test } from 'vitest'
import {
  faultOfGrant,
  faultOfServed,
  isNarrower,
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

it.each(['tele/#', 'a', 'a/+/b', '/a', '/tele/#', 'homeassistant/+/state', 'stat', 'things2/#', 'v2x'])(
  'faultOfServed() takes %s',
  filter => expect(faultOfServed(filter)).toBeUndefined(),
)

it.each([
  ['', /^an empty text is not a topic filter/],
  ['#', /^# begins with a wildcard$/],
  ['+/a', /^\+\/a begins with a wildcard$/],
  ['things', /^things begins with things, which is Thingwire's$/],
  ['things/#', /^things\/# begins with things, which is Thingwire's$/],
  ['things/+/values/#', /which is Thingwire's$/],
  ['v2', /^v2 begins with v2, which is Thingwire's$/],
  ['v2/#', /which is Thingwire's$/],
  ['$SYS/#', /^\$SYS\/# begins with \$, which is the broker's$/],
  ['$share/a/b', /which is the broker's$/],
  ['$x', /which is the broker's$/],
  ['a#', /^a#: a wildcard must be a level of its own$/],
  ['a/#/b', /^a\/#\/b: # must be the last level$/],
  ['a\0b', /^"a\\u0000b" has a character that no topic may have$/],
  ['a\ud800', /has a character that no topic may have$/],
  ['a'.repeat(1_025), /^a filter has at most 1024 bytes$/],
  ['a/'.repeat(200), /has too many levels$/],
])('faultOfServed() refuses %j', (filter, fault) => expect(faultOfServed(filter)).toMatch(fault))

test('faultOfGrant() names what is wrong', () => {
  const served = ['tele/#', 'cmnd/#']
  const read = (filter: string) => ({ filter, access: 'read' as const })
  expect(faultOfGrant(read('tele/plug'), served)).toBeUndefined()
  expect(faultOfGrant(read('stat/#'), served)).toBe(
    'stat/# is not within the option topics or the topics of a source (tele/#, cmnd/#)',
  )
  expect(faultOfGrant(read('#'), served)).toContain('not within')
  expect(faultOfGrant(read('tele/a#'), served)).toBe('tele/a# is not a topic filter')
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
