import { describe, expect, it } from 'vitest'
import { isSilent, lastHeardOf, silences } from '../../../web/src/things/silence.ts'

const now = Date.parse('2026-11-21T12:00:00Z')
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()

function thing(lastSeen: string | null, lastWrite?: string) {
  const written = lastWrite === undefined ? {} : { lastWrite }
  return { thingId: 'mzxw6ytboi4dcmjs', name: 'boat', createdAt: ago(99_999), lastSeen, ...written }
}

const things = {
  'never heard of': thing(null),
  'of an operator, just now': thing(null, ago(0)),
  'of an operator, 2 days ago': thing(null, ago(2 * 1_440)),
  'just now': thing(ago(0), ago(0)),
  '9 min ago': thing(ago(9)),
  '10 min ago': thing(ago(10)),
  '59 min ago, read later': thing(ago(0), ago(59)),
  'an hour ago': thing(ago(60), ago(61)),
  'a day ago': thing(ago(1_440), ago(1_440)),
  '8 days ago, filled by an operator since': thing(ago(8 * 1_440), ago(5)),
  '8 days ago': thing(ago(8 * 1_440), ago(9 * 1_440)),
}

describe('isSilent()', () => {
  it.each([
    ['All', Object.keys(things)],
    [
      'Silent for 10 min',
      [
        'never heard of',
        'of an operator, 2 days ago',
        '10 min ago',
        'an hour ago',
        'a day ago',
        '8 days ago',
      ],
    ],
    [
      'Silent for 1 h',
      ['never heard of', 'of an operator, 2 days ago', 'an hour ago', 'a day ago', '8 days ago'],
    ],
    ['Silent for 1 day', ['never heard of', 'of an operator, 2 days ago', 'a day ago', '8 days ago']],
    ['Silent for 7 days', ['never heard of', '8 days ago']],
    ['Never heard of', ['never heard of']],
  ])('chooses the things of %s', (label, chosen) => {
    const silence = silences.find(each => each.label === label) ?? silences[0]
    const found = Object.entries(things).filter(([, each]) => isSilent(each, silence, now))
    expect(found.map(([name]) => name)).toEqual(chosen)
  })
})

describe('lastHeardOf()', () => {
  it('is the later one of what the thing and what anybody did', () => {
    expect(lastHeardOf(thing(ago(5), ago(3)))).toBe(now - 3 * 60_000)
    expect(lastHeardOf(thing(ago(3), ago(5)))).toBe(now - 3 * 60_000)
    expect(lastHeardOf(thing(null))).toBeUndefined()
  })
})
