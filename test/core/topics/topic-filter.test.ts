import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  isTopicFilter,
  isTopicName,
  isWithin,
  overlaps,
  spelledOut,
} from '../../../src/core/topics/topic-filter.ts'
import { FilterTree } from '../../../src/mqtt/relay/filter-tree.ts'

const matchesTopic = (filter: string, topic: string) => isWithin(topic, filter)

test('isTopicName() takes what may be published on', () => {
  for (const topic of ['a', '/', 'a/b', 'things/abc/write', '$SYS/x', 'é', ' ', '/'.repeat(99)]) {
    expect(isTopicName(topic), topic).toBe(true)
  }
  for (const topic of ['', '+', '#', 'a/+', 'a/#', 'a+b', 'a#', '/'.repeat(100)]) {
    expect(isTopicName(topic), topic).toBe(false)
  }
})

test('isTopicName() takes the characters that libmosquitto takes, and spelledOut() shows the others', () => {
  // As `mosquitto_validate_utf8` of libmosquitto has it.
  const isRefused = (number: number) =>
    number <= 0x1f ||
    (number >= 0x7f && number <= 0x9f) ||
    (number >= 0xd800 && number <= 0xdfff) ||
    (number >= 0xfdd0 && number <= 0xfdef) ||
    (number & 0xfffe) === 0xfffe
  const others = []
  for (let number = 0; number <= 0x10ffff; number++) {
    const topic = `a/${String.fromCodePoint(number)}b`
    if (number === 0x2b || number === 0x23) continue
    const isShown = spelledOut(topic) !== topic
    if (isTopicName(topic) === isRefused(number) || isShown !== isRefused(number)) others.push(number)
  }
  expect(others).toEqual([])
  expect(spelledOut('a\r/ü\u{1ffff}\ud800')).toBe('a\\u000d/ü\\u{1ffff}\\ud800')
})

test('isTopicFilter() knows where wildcards may stand, and takes 100 levels', () => {
  const filters = [
    'a',
    '/',
    '//',
    '+',
    '#',
    '+/+',
    '/#',
    'a/+/#',
    '+/a',
    '$SYS/#',
    'a'.repeat(65_535),
    '/'.repeat(99),
  ]
  for (const filter of filters) expect(isTopicFilter(filter), filter).toBe(true)
  const others = [
    '',
    'a+',
    '+a',
    'a+b',
    'a/+b/c',
    'a#',
    '#a',
    '#/',
    '#/a',
    '##',
    'a/#/b',
    '++',
    '+#',
    '/'.repeat(100),
  ]
  for (const other of others) expect(isTopicFilter(other), other).toBe(false)
})

describe('matchesTopic()', () => {
  it.each([
    ['a/#', 'a'],
    ['a/#', 'a/'],
    ['a/#', 'a/b/c'],
    ['+', 'a'],
    ['a/+', 'a/'],
    ['+/+', '/'],
    ['/+', '/a'],
    ['#', '/'],
    ['$SYS/#', '$SYS'],
    ['$SYS/+', '$SYS/a'],
    ['a/$b', 'a/$b'],
    ['a/+', 'a/$b'],
  ])('%s matches %s', (filter, topic) => expect(matchesTopic(filter, topic)).toBe(true))

  it.each([
    ['a/+', 'a'],
    ['a/+', 'a/b/c'],
    ['+', '/a'],
    ['+', '$SYS'],
    ['#', '$SYS/a'],
    ['+/a', '$SYS/a'],
    ['a', 'A'],
    ['a', 'a/'],
  ])('%s does not match %s', (filter, topic) => expect(matchesTopic(filter, topic)).toBe(false))
})

const name = fc.constantFrom('', 'a', 'b', '$s')
const topics = fc.array(name, { minLength: 1, maxLength: 4 }).map(levels => levels.join('/'))
const filters = fc
  .tuple(fc.array(fc.oneof(name, fc.constant('+')), { minLength: 0, maxLength: 3 }), fc.boolean())
  .map(([levels, isOpen]) => [...levels, ...(isOpen || levels.length === 0 ? ['#'] : [])].join('/'))
  .filter(isTopicFilter)

/** Every topic of up to four levels of these names. */
const allTopics = [1, 2, 3, 4].flatMap(depth => topicsOf(depth))

function topicsOf(depth: number): string[] {
  const names = ['', 'a', 'b', '$s']
  return depth === 1 ? names : topicsOf(depth - 1).flatMap(topic => names.map(level => `${topic}/${level}`))
}

/** The rules of MQTT-4.7 as one expression. */
function expressionOf(filter: string): RegExp {
  const body = filter
    .split('/')
    .map(level => (level === '+' ? '[^/]*' : level === '#' ? '.*' : level.replace('$', '\\$')))
    .join('/')
    .replace(/\/\.\*$/, '(/.*)?')
  return new RegExp(`^${/^[+#]/.test(filter) ? '(?!\\$)' : ''}${body}$`)
}

test('a filter matches what the rules of MQTT say', () => {
  fc.assert(
    fc.property(filters, topics, (filter, topic) => {
      expect(matchesTopic(filter, topic)).toBe(expressionOf(filter).test(topic))
    }),
    { numRuns: 1_000 },
  )
})

test('a filter is within another one if that matches every topic that it matches', () => {
  fc.assert(
    fc.property(filters, filters, (inner, outer) => {
      const matched = allTopics.filter(topic => matchesTopic(inner, topic))
      const isCovered = matched.every(topic => matchesTopic(outer, topic))
      // `+/#` in the first place matches what `#` matches, and is not said to contain it.
      const isSame = inner === '#' && outer === '+/#'
      // Of a filter that matches none of these topics nothing is known.
      if (matched.length > 0 && !isSame)
        expect(isWithin(inner, outer), `${inner} in ${outer}`).toBe(isCovered)
    }),
    { numRuns: 2_000 },
  )
})

test('two filters overlap if there is a topic that both match', () => {
  // No filter of a source begins with $.
  const served = filters.filter(filter => !filter.startsWith('$'))
  fc.assert(
    fc.property(served, served, (one, other) => {
      const isShared = allTopics.some(topic => matchesTopic(one, topic) && matchesTopic(other, topic))
      expect(overlaps(one, other), `${one} and ${other}`).toBe(isShared)
      expect(overlaps(other, one), `${other} and ${one}`).toBe(isShared)
    }),
    { numRuns: 2_000 },
  )
})

test('a tree of filters finds those that match, and nothing of what was removed', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(filters, { maxLength: 12 }),
      fc.integer({ min: 0, max: 12 }),
      topics,
      (all, kept, topic) => {
        const tree = new FilterTree<string>()
        for (const filter of all) tree.add(filter, filter)
        for (const filter of all.slice(kept)) tree.remove(filter, filter)
        const expected = all.slice(0, kept).filter(filter => matchesTopic(filter, topic))
        expect(tree.match(topic).sort()).toEqual(expected.sort())
      },
    ),
    { numRuns: 1_000 },
  )
})
