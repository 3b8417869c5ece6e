import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonMistake } from '../../../src/core/json/json-mistake.ts'

/** The mistake stands behind `¦`, which is taken out. */
const mistakes: readonly (readonly [what: string, text: string, shown: string, hint: RegExp | undefined])[] =
  [
    ['a number without a digit in front of its point', '{"v":¦.5}', '.5', /begins with a digit/],
    ['a negative one', '{"v":¦-.5}', '-.5', /begins with a digit/],
    ['a number without a digit behind its point', '{"v":¦1.}', '1.', /digit must follow/],
    ['a plus sign', '{"v":¦+1}', '+1', /no plus sign/],
    ['a zero in front', '{"v":¦007}', '007', /begin with a zero/],
    ['a negative zero in front', '[¦-01]', '-01', /begin with a zero/],
    ['a hexadecimal number', '[¦0x1F]', '0x1F', /decimal/],
    ['a comma in a number', '{"v":21,¦5}', '5', /point, not a comma/],
    ['a comma in a number of a list', '{"v":[1],"w":-3,¦25}', '25', /point, not a comma/],
    ['True of Python', '{"v":¦True}', 'True', /lower case/],
    ['FALSE', '[true,¦FALSE]', 'FALSE', /lower case/],
    ['None of Python', '{"v":¦None}', 'None', /write null/],
    ['nil', '[¦nil]', 'nil', /write null/],
    ['undefined', '[¦undefined]', 'undefined', /write null/],
    ['nan', '{"v":¦nan}', 'nan', /leave the record out/],
    ['NaN', '{"v":"NaN","w":¦NaN}', 'NaN', /leave the record out/],
    ['-Infinity', '{"v":¦-Infinity}', '-Infinity', /leave the record out/],
    ['inf in a list', '[1,¦inf]', 'inf', /leave the record out/],
    ['ovf of Arduino', '[¦ovf]', 'ovf', /leave the record out/],
    ['a comma in front of ]', '[{"v":1},¦]', ']', /comma before it/],
    ['a comma in front of }', '{"v":1, ¦}', '}', /comma before it/],
    ['two commas', '[1,¦,2]', ',', undefined],
    ['the wrong bracket', '{"v":[1¦}', '}', undefined],
    ['no comma between records', '[{} ¦{}]', '{', undefined],
    ['no colon', '{"v" ¦1}', '1', undefined],
    ['= for a colon', '{"v"¦=1}', '=', undefined],
    ['a name without quotes', '{¦v:1}', 'a word', /double quotes/],
    ['a text without quotes', '{"v":¦on}', 'a word', /double quotes/],
    ['a date without quotes', '{"v":¦2026-11-21}', '2026-11-21', /double quotes/],
    ['single quotes', "{¦'v':1}", "'", /double quotes/],
    ['curly quotes', '{"v":¦“on”}', '“', /double quotes/],
    ['a comment', '{"v":1}¦// of today', '/', /no comments/],
    ['a comment of a shell', '[1] ¦# one', '#', /no comments/],
    ['a zero byte behind it', '{"v":1}¦\0', 'U+0000', /zero byte/],
    ['a second document', '{"v":1}\n¦{"v":2}', '{', /single JSON document/],
    ['a second byte order mark', '¦\ufeff{}', 'U+FEFF', undefined],
    ['a no-break space', '{¦\u00a0"v":1}', 'U+00A0', undefined],
    ['a long word', `[¦${'x'.repeat(50)}]`, 'a word', /double quotes/],
    ['a long number that is none', `[¦0${'1'.repeat(50)}]`, 'a word', /begin with a zero/],
  ]

/** Where the text ends; the place is said in words. */
const ends: readonly (readonly [what: string, text: string, place: string])[] = [
  ['nothing', '', 'where a value is expected'],
  ['white space', ' \r\n', 'where a value is expected'],
  ['cut in a string', '{"values":[{"key":"tem', 'inside a string'],
  ['cut in an escape', '["a\\u00', 'inside a string'],
  ['cut behind a backslash', '["a\\', 'inside a string'],
  ['cut in a number', '{"v":-', 'inside a value'],
  ['cut behind a point', '{"v":21.', 'inside a value'],
  ['cut in a word', '{"v":tru', 'inside a value'],
  ['cut behind a number', '{"v":2', 'where , or } is expected'],
  ['cut behind a comma', '{"v":2,', 'where a name in double quotes is expected'],
  ['cut behind a colon', '{"v":', 'where a value is expected'],
  ['without its brackets', '{"values":[{"key":"e","value":1}', 'where , or ] is expected'],
  ['10,000 brackets', '['.repeat(10_000), 'where a value or ] is expected'],
]

describe('findJsonMistake()', () => {
  it.each(mistakes)('names the place of %s', (_what, marked, shown, hint) => {
    const position = marked.indexOf('¦')
    const mistake = findJsonMistake(marked.replace('¦', ''))
    expect(mistake?.position).toBe(position)
    expect(mistake?.message).toContain(`found ${shown} at position ${position} where `)
    if (hint) expect(mistake?.message).toMatch(hint)
    else expect(mistake?.message).toMatch(/ is expected$/)
  })

  it.each(ends)('says where a text ends that is %s', (_what, text, place) => {
    expect(findJsonMistake(text)).toMatchObject({
      position: text.length,
      message: expect.stringContaining(`it ends at position ${text.length}, ${place}`),
    })
  })

  it.each([
    ['a line feed', '["a¦\nb"]', 'U+000A must be escaped'],
    ['a tab', '{"a¦\tb":1}', 'U+0009 must be escaped'],
    [
      'an escape that there is none of',
      String.raw`["a¦\x41"]`,
      String.raw`\ does not begin any of the escapes`,
    ],
    [
      'a surrogate that is cut short',
      String.raw`["¦\u12g4"]`,
      String.raw`\ does not begin any of the escapes`,
    ],
  ])('names the place of %s in a string', (_what, marked, says) => {
    const position = marked.indexOf('¦')
    expect(findJsonMistake(marked.replace('¦', ''))).toMatchObject({
      position,
      message: expect.stringContaining(`at position ${position} ${says}`),
    })
  })

  it('finds one wherever JSON.parse does, and nowhere else', () => {
    const edit = fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...'{}[],:"\\+-.e0 1tnN\n\u0000é', 'true', ''))
    fc.assert(
      fc.property(fc.json(), fc.array(edit, { maxLength: 3 }), (json, edits) => {
        let text = json
        for (const [at, length, put] of edits) {
          const place = at % (text.length + 1)
          text = text.slice(0, place) + put + text.slice(place + length)
        }
        const mistake = findJsonMistake(text)
        expect([text, mistake === undefined]).toEqual([text, isJson(text)])
        if (mistake) expect(mistake.message).toContain(`position ${mistake.position}`)
      }),
      { numRuns: 20_000 },
    )
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
