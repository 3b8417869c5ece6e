import { describe, expect, it } from 'vitest'
import { levels, patternMistake } from '../../src/formats/levels.ts'
import { testSamples } from './play.ts'
import samples from './samples/levels.json' with { type: 'json' }

describe('levels', () => {
  for (const sample of samples) testSamples(levels(sample.pattern), [sample])

  it.each([
    ['garden/{device}/{key}', 'garden/pump/a/b', 'form'],
    ['garden/{device}/{key}', 'garden/pump', undefined],
    ['garden/{device}/{key}', 'garden//a', undefined],
    ['garden/{device}/{key}', 'Garden/pump/a', undefined],
    ['+/{device}', 'garden/pump', 'form'],
    ['+/{device}', 'garden/pump/a', undefined],
    ['+/{device}', '$SYS/pump', undefined],
    ['{device}/{key}', '$SYS/pump', undefined],
    ['$garden/{device}', '$garden/pump', 'form'],
  ])('of %j knows(%j) is %j', (pattern, topic, known) => {
    expect(levels(pattern).begin().knows(topic)).toBe(known)
  })

  it.each([
    ['', 'a topic, but it is none'],
    ['garden/#', 'a topic, but it is none'],
    ['garden/{key}', 'a topic with one level {device}, but it is one with 0'],
    ['{device}/{device}', 'a topic with one level {device}, but it is one with 2'],
    ['{device}/{key}/a', 'a topic with {key} as its last level alone, but it is one with {key} before'],
    ['{key}/{device}/{key}', 'a topic with {key} as its last level alone, but it is one with {key} before'],
    ['a+/{device}', 'made of literal levels, +, {device} and {key}, but it is made with the level a+'],
    [
      '{device}/{unit}',
      'made of literal levels, +, {device} and {key}, but it is made with the level {unit}',
    ],
  ])('refuses the pattern %j', (pattern, mistake) => {
    expect(patternMistake(pattern)).toBe(`pattern must be ${mistake}`)
    expect(() => levels(pattern)).toThrow(RangeError)
  })

  it.each([
    ['\xff', 'must be UTF-8, but it is not'],
    ['{"a":1', 'must be JSON if it begins with { or [, but it is not JSON'],
    [' [1,2', 'must be JSON if it begins with { or [, but it is not JSON'],
  ])('lists %j, which it cannot read', (payload, reason) => {
    const message = { topic: 'garden/pump/a', payload: Buffer.from(payload, 'latin1'), receivedAt: 0 }
    expect(levels('garden/{device}/{key}').begin().read(message)).toEqual({
      readings: [],
      unread: [{ place: '', reason }],
    })
  })
})
