import { describe, expect, it } from 'vitest'
import { Redactor } from '../../../src/core/refusals/redactor.ts'
import { createToken } from '../../../src/core/token.ts'

const redactor = new Redactor()
const redact = (text: string) => redactor.redact(text)
const excerpt = (text: string) => redactor.excerpt(Buffer.from(text))

/** One of a kind that has everything: both cases, digits, - and _. */
const token = 'q7ZtB-x0LmK_2vWnRs8yEhUc5dPgJfAo3iXbTk4wYN1'
/** The first as a device with a small buffer cuts it, the last as short as what is redacted. */
const cuts = [token, token.slice(0, 34), token.slice(0, 33), token.slice(10, 36), token.slice(0, 24)]

const hex = (character: string) => character.charCodeAt(0).toString(16)
const each = (spell: (character: string, place: number) => string) => (text: string) =>
  [...text].map(spell).join('')
const inLines = (length: number, end: string) => (text: string) =>
  text.replace(new RegExp(`.{${length}}(?=.)`, 'g'), `$&${end}`)
const percent = each(character => `%${hex(character)}`)
const json = each(character => `\\u00${hex(character)}`)
const base64 = (text: string) => Buffer.from(text).toString('base64').replaceAll('=', '')

const spellings: Record<string, (text: string) => string> = {
  'as it is': text => text,
  'percent-encoded in capitals': each(character => `%${hex(character).toUpperCase()}`),
  'percent-encoded in small letters': percent,
  'percent-encoded here and there': each((character, place) =>
    place % 3 === 0 ? `%${hex(character)}` : character,
  ),
  'percent-encoded where it is no letter': text => text.replace(/[^A-Za-z]/g, percent),
  'percent-encoded twice': text => percent(text).replaceAll('%', '%25'),
  'percent-encoded eight times': text => percent(text).replaceAll('%', `%${'25'.repeat(7)}`),
  'in the percent-encoding of old browsers': each(character => `%u00${hex(character)}`),
  'in JSON escapes': json,
  'in JSON escapes in capitals': text =>
    json(text).replace(/[a-f\d]{2}(?=\\|$)/g, each => each.toUpperCase()),
  'in JSON within JSON': text => json(text).replaceAll('\\', '\\\\'),
  'in JSON within JSON within a URL': text => json(text).replaceAll('\\', '%5C%5C'),
  'in escapes of a program': each(character => `\\x${hex(character)}`),
  'in escapes with braces': each(character => `\\u{${hex(character)}}`),
  'escaped for Markdown': text => text.replace(/[-_]/g, '\\$&'),
  'in HTML': each(character => `&#${character.charCodeAt(0)};`),
  'in HTML in hex, without semicolons': each(character => `&#x${hex(character).padStart(4, '0')}`),
  'in HTML within HTML': each(character => `&amp;#${character.charCodeAt(0)};`),
  'in HTML where it is an underscore': text => text.replaceAll('_', '&lowbar;').replaceAll('-', '&#45;'),
  'in full width': each(character => String.fromCharCode(character.charCodeAt(0) + 0xfee0)),
  'in lines': inLines(9, '\n'),
  'in indented lines': inLines(16, '\r\n    '),
  'in lines that a shell joins': inLines(12, '\\\n'),
  'in lines of a JSON string': inLines(20, '\\n'),
  'in UTF-16 that was read as UTF-8': inLines(1, '\0'),
  'in UTF-16 within JSON': inLines(1, '\\u0000'),
  'with places where it may be broken': inLines(7, '\u200b'),
  'with soft hyphens': inLines(5, '\u00ad'),
  'in base64': text => base64(`${text}${text}`).slice(0, text.length),
  'in base64 in lines': text => inLines(19, '\n')(base64(`user:${text}`)),
}

const places: Record<string, (text: string) => string> = {
  'in quotes': text => `{"token":"${text}"}`,
  'as a key': text => `{"values":[{"key":"${text}","value":1}]}`,
  'behind Bearer': text => `Authorization: Bearer ${text} `,
  'in the userinfo of a URL': text => `mqtt://device:${text}@host`,
  'in a query': text => `/v2/utils/date?thingToken=${text}&format=UTC`,
  'in a topic': text => `things/${text}/values/n`,
  'in another script': text => `für ${text}, °C`,
  'behind an umlaut in JSON': text => `"f\\u00fcr${' '}${text}"`,
  'at the end': text => `value=1&token=${text}`,
}

describe('redact()', () => {
  it.each(Object.entries(spellings))('redacts a token %s, cut or not, wherever it stands', (_, spell) => {
    for (const [where, place] of Object.entries(places)) {
      for (const cut of cuts) {
        const text = place(spell(cut))
        expect([where, text, redact(text)]).toEqual([where, text, place('[redacted]')])
      }
    }
  })

  it('redacts every second token of two, and what is as long', () => {
    expect(redact(`${token} ${token}${token}\t${percent(token)}`)).toBe('[redacted] [redacted]\t[redacted]')
  })

  it.each([
    ['a number', '-273.149999999999977262632'],
    ['digits', '314159265358979323846264338327'],
    ['a compact datetime', '20261121T093000123Z'],
    ['a datetime in a file name', 'log-2026-11-21T09-30-00-000Z'],
    ['an MD5', '9e107d9d372bb6826bd81d3542a419d6'],
    ['an object id', '507f1f77bcf86cd799439011'],
    ['a UUID', '0b7c6b5e-4c1f-4f0b-9a43-2f1f6c5d7e8a'],
    ['a UUID of both cases', '0B7C6B5E-4c1f-4f0b-9a43-2f1f6c5d7e8a'],
    ['a short UUID', 'vytxeTZskVKR7C7WgdSP3d'],
    ['a ULID', '01ARZ3NDEKTSV4RRFFQ69G5FAV'],
    ['a thing id', 'abcdefgh234567ab'],
    ['a MAC address', 'A0-B1-C2-D3-E4-F5'],
    ['a key in small letters', 'battery_voltage_millivolts_avg'],
    ['a key in capitals', 'BATTERY_VOLTAGE_MILLIVOLTS'],
    ['a key of words', 'averageOutdoorTemperatureNorth02'],
    ['a name', 'Living-Room-Temperature-Sensor-1'],
    ['a topic', 'things/abcdefgh234567ab/values/averageOutdoorTemperatureNorth'],
    ['words in another script', '%E6%B8%A9%E5%BA%A6%E3%82%BB%E3%83%B3%E3%82%B5%E3%83%BC%E6%B8%A9%E5%BA%A6'],
    ['a sentence', 'The sensor of the living room says: temperature 21.5 °C, humidity 40 %.'],
    ['a list', 'temperature\nhumidity\npressure\nwind_speed\nwind_direction'],
    ['numbers in lines', Array.from({ length: 40 }, (_, index) => index * 7).join('\n')],
    ['a write', '{"values":[{"key":"temperature","value":NaN,"datetime":"2026-11-21T09:30:00.000Z"}]}'],
    ['CSV', 'datetime,Temperature,Humidity\r\n2026-11-21T09:30:00Z,21.5,40\r\n'],
  ])('shows %s', (_, text) => {
    expect(redact(text)).toBe(text)
  })

  // Each of these once took longer than anybody waits: the number of ways to read it as words grew with each letter.
  it.each([
    ['letters', 'x'.repeat(700), 'Co'],
    ['letters behind a capital', `X${'x'.repeat(700)}`, 'Y1'],
    ['digits', '1'.repeat(700), 'aB'],
    ['times', '1T'.repeat(350), 'aB'],
    ['times that begin words', '12Tab'.repeat(140), 'C'],
    ['zones that begin words', '12Zab'.repeat(140), 'C'],
    ['words', 'Abc'.repeat(230), 'D'],
    ['words and digits', 'abc1'.repeat(170), 'dE'],
    ['hyphens', `aB${'-'.repeat(690)}`, 'C'],
    ['lines', 'ab\r\n\t '.repeat(110), 'cD'],
    ['spaces in lines', `a\r${' \r'.repeat(340)}`, 'bC'],
    ['characters without a width', `a${'\u200b'.repeat(690)}`, 'bC'],
  ])('is done with many %s that end unlike a word', (_, many, end) => {
    for (const text of [many, many + end, `${many.slice(0, 60)}${end}`, `${end}${many}`]) redact(text)
  })

  it('shows hardly any token that was cut to 24 characters', () => {
    const shown = Array.from({ length: 5_000 }, () => createToken().slice(0, 24)).filter(
      cut => redact(cut) === cut,
    )
    // One in 15,000 looks like a name.
    expect(shown.length).toBeLessThan(8)
  })

  it('looks no further than it shows, but for the end of what begins there', () => {
    expect(redactor.redact(`${'. '.repeat(50)}${token}`, 101)).toBe(`${'. '.repeat(50)}[`)
    expect(redactor.redact(`${'. '.repeat(50)}${token}`, 100)).toBe('. '.repeat(50))
    expect(redactor.redact(`${token}, ${token}`, 15)).toBe('[redacted]')
  })
})

describe('redact() with an admin key', () => {
  const keys = {
    'of 32 characters': 'abcdefghijklmnopqrstuvwxyzabcdef',
    'of 32 hex digits': '9e107d9d372bb6826bd81d3542a419d6',
    'of words': 'correct.horse.battery.staple.lamp',
    'with characters that no token has': 'Tr0ub/4dor&3+Tr0ub:4dor%=Tr0ub!4"',
    'of 43 characters': token,
  }

  it.each(Object.entries(keys))('redacts one %s, in every spelling', (_, key) => {
    const own = new Redactor(key)
    for (const [name, spell] of Object.entries(spellings)) {
      // Base64 is no layer that is taken off: what is in it is redacted where it looks like a token.
      if (name.includes('base64')) continue
      const text = `<${spell(key)}>`
      expect([name, text, own.redact(text)]).toEqual([name, text, '<[redacted]>'])
    }
  })

  it.each(Object.entries(keys))('redacts 24 characters of one %s, and no fewer', (_, key) => {
    const own = new Redactor(key)
    for (let place = 0; place + 24 <= key.length; place++) {
      expect(own.redact(`<${key.slice(place, place + 24)}>`)).toBe('<[redacted]>')
      expect(own.redact(`<${key.slice(place, place + 23)}>`)).toBe(`<${key.slice(place, place + 23)}>`)
    }
  })

  it.each([
    ['that looks escaped', 'correct%41horse&#65;battery%2542staple\\u0042lamp&amp;'],
    ['with quotes and backslashes', '"Tr0ub\\4dor"\\\\"Tr0ub\\4dor"\\u4!'],
  ])('redacts one %s, as it is and as it is encoded', (_, key) => {
    const own = new Redactor(key)
    const quoted = (text: string) => JSON.stringify(text).slice(1, -1)
    const encodings = [
      (text: string) => text,
      percent,
      encodeURIComponent,
      quoted,
      (text: string) => quoted(quoted(text)),
      (text: string) => quoted(encodeURIComponent(text)),
      (text: string) => encodeURIComponent(quoted(text)),
    ]
    for (const encode of encodings) expect(own.redact(`<${encode(key)}>`)).toBe('<[redacted]>')
  })

  it('shows of a text what the key is not in', () => {
    const own = new Redactor('9e107d9d372bb6826bd81d3542a419d6')
    expect(own.redact('"md5":"9e107d9d372bb6826bd81d35ffffffff","n":1')).toBe(
      '"md5":"[redacted]ffffffff","n":1',
    )
    expect(own.redact('"md5":"e4d909c290d0fb1ca068ffaddf22cbd0"')).toBe(
      '"md5":"e4d909c290d0fb1ca068ffaddf22cbd0"',
    )
  })
})

describe('excerpt()', () => {
  it('is a short body as it is', () => {
    expect(excerpt('{"values":[{"key":"wärme"}]}')).toBe('{"values":[{"key":"wärme"}]}')
    expect(excerpt('')).toBe('')
  })

  it('is the first 200 characters, however many bytes they take', () => {
    expect(excerpt('x y'.repeat(100))).toBe('x y'.repeat(100).slice(0, 200))
    expect(excerpt('€ '.repeat(500))).toBe('€ '.repeat(100))
  })

  it('shows bytes that are not UTF-8 as U+FFFD', () => {
    expect(redactor.excerpt(Uint8Array.of(0x7b, 0xff, 0x7d))).toBe('{\ufffd}')
  })

  it('reads a view of bytes, not what lies around it', () => {
    const bytes = Buffer.from('before{}after')
    expect(redactor.excerpt(new Uint8Array(bytes.buffer, bytes.byteOffset + 6, 2))).toBe('{}')
  })

  it('shows no seven characters of a token, wherever in a body it stands, in whatever spelling', () => {
    const parts = Array.from({ length: token.length - 6 }, (_, start) => token.slice(start, start + 7))
    const befores = [
      ...Array.from({ length: 260 }, (_, offset) => ' '.repeat(offset)),
      ...Array.from({ length: 400 }, (_, more) => `${'x'.repeat(700 + more)} `),
      ...Array.from({ length: 110 }, (_, offset) => `😀€${' '.repeat(offset)}${'ä€😀'.repeat(30)}`),
    ]
    for (const spell of Object.values(spellings)) {
      const shownParts = parts.map(spell)
      for (const before of befores) {
        const shown = excerpt(`${before}${spell(token)}" "${spell(token)}`)
        expect(shown.length).toBeLessThanOrEqual(200)
        expect(shownParts.filter(part => shown.includes(part))).toEqual([])
      }
    }
  })
})
