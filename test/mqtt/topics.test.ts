import { describe, expect, it, test } from 'vitest'
import { createThingId, createToken } from '../../src/core/token.ts'
import { errorsTopic, refOfWriteTopic, valuesTopic, writeTopic } from '../../src/mqtt/index.ts'
import {
  isThingwireTopic,
  parseThingFilter,
  refOfThingTopic,
  withRef,
  writeAddressOf,
} from '../../src/mqtt/topics.ts'

const token = createToken()
const id = createThingId()

test('writeTopic() is a topic whose ref refOfWriteTopic() finds', () => {
  expect(writeTopic('abc')).toBe('things/abc/write')
  expect(refOfWriteTopic(writeTopic('abc'))).toBe('abc')
  expect(refOfWriteTopic('v2/things/abc')).toBe('abc')
})

test('writeAddressOf() has the format and the levels of a topic', () => {
  expect(writeAddressOf('things/abc/write')).toEqual({ ref: 'abc', format: undefined })
  expect(writeAddressOf('v2/things/abc')).toEqual({ ref: 'abc', format: undefined })
  for (const format of ['json', 'value/cellar/temperature', 'value/', 'value//a', '/a', 'value/a\n'])
    expect(writeAddressOf(`things/abc/write/${format}`)).toEqual({ ref: 'abc', format })
})

test('refOfWriteTopic() knows no other topic', () => {
  const others = [
    'things/abc',
    'things/abc/writes/x',
    'things/abc/write\n/x',
    'v2/things/abc/write/x',
    'things/abc/write/value/+',
    'things/abc/write/json/#',
    'things/abc/write/',
    'things//write',
    'things/+/write',
    'things/#/write',
    'things/a/b/write',
    '/things/abc/write',
    'v2/things/abc/write',
    'v2/things/abc/',
    'v2/things/',
    'v2/things/+',
    'x/abc/write',
    'things/abc/write\n',
  ]
  for (const topic of others) expect(refOfWriteTopic(topic), topic).toBeUndefined()
})

test('valuesTopic() and errorsTopic() stand under the thing', () => {
  expect(valuesTopic('abc', 'depth')).toBe('things/abc/values/depth')
  expect(errorsTopic('abc')).toBe('things/abc/errors')
})

test('isThingwireTopic() tells the topics of Thingwire from those of a host', () => {
  const own = [
    'things/abc',
    'things/',
    'things/#',
    'things/+/x',
    'v2/things/abc',
    'v2/activations/a/b',
    'v2/#',
  ]
  const others = [
    'things',
    'thing/abc',
    'v2',
    'v20/x',
    '/things/abc',
    'Things/abc',
    '#',
    '+/abc',
    '$SYS/x',
    '',
  ]
  for (const topic of own) expect(isThingwireTopic(topic), topic).toBe(true)
  for (const topic of others) expect(isThingwireTopic(topic), topic).toBe(false)
})

describe('refOfThingTopic()', () => {
  it('finds the ref, and withRef() puts another in its place', () => {
    const rests = [
      '',
      '/write',
      '/values/depth',
      '/values/+',
      '/#',
      '/',
      `/${token}`,
      '/values/things/x/errors',
    ]
    for (const start of ['things/', 'v2/things/']) {
      for (const rest of rests) {
        expect(refOfThingTopic(`${start}${token}${rest}`)).toBe(token)
        expect(withRef(`${start}${token}${rest}`, id)).toBe(`${start}${id}${rest}`)
        expect(withRef(`${start}${id}${rest}`, token)).toBe(`${start}${token}${rest}`)
      }
    }
  })

  it('finds none where there is a wildcard, or no thing', () => {
    const others = [
      'things/+/errors',
      'things/#',
      'things//errors',
      'things/',
      'v2/things/+',
      'v2/abc',
      'x/abc/y',
    ]
    for (const topic of others) expect(refOfThingTopic(topic), topic).toBeUndefined()
  })
})

describe('parseThingFilter()', () => {
  it('takes a filter of one thing or of every thing apart', () => {
    const rests = ['', '/errors', '/values/+', '/#', '/+', '/+/+', '/', '//', '/values/$geo', '/values/#']
    for (const start of ['things/', 'v2/things/']) {
      for (const ref of [token, id, '+']) {
        for (const rest of rests) expect(parseThingFilter(start + ref + rest)).toEqual({ ref, rest })
      }
    }
  })

  it('takes no other', () => {
    const refs = [
      '',
      '#',
      'abc',
      `${token}x`,
      token.slice(1),
      id.toUpperCase(),
      `${id} `,
      `+${id}`,
      '++',
      '$SYS',
    ]
    const rests = ['/#/a', '/a#', '/a+', '/+a', '/a/#/', '/##', '/a+/b', '/a'.repeat(99)]
    const others = [
      ...refs.map(ref => `things/${ref}/errors`),
      ...rests.map(rest => `things/${token}${rest}`),
      ...[
        '#',
        '+/#',
        `+/${token}`,
        `/things/${token}`,
        `v3/things/${token}`,
        `v2/${token}`,
        `v2/+/${token}`,
        '',
      ],
    ]
    for (const filter of others) expect(parseThingFilter(filter), filter).toBeUndefined()
  })
})
