import { describe, expect, it } from 'vitest'
import { ThingwireError } from '../../src/errors.ts'
import { influxRecords, type Precision, parseLines } from '../../src/formats/influx.ts'
import { ownFormats } from '../../src/formats/registry.ts'
import { samples } from './samples.ts'

/** @param topic the format and the levels behind it */
function read(topic: string, body: string | Uint8Array) {
  const [name = '', ...levels] = topic.split('/')
  return ownFormats.get(name)?.read(levels, Buffer.from(body))
}

function refusal(topic: string, body: string | Uint8Array): string {
  try {
    read(topic, body)
  } catch (error) {
    if (error instanceof ThingwireError) return `${error.reason}: ${error.message}`
    throw error
  }
  throw new Error('the body was not refused')
}

describe.each([...ownFormats.keys()])('the format %s', name => {
  it.each(samples.get(name) ?? [])('reads $name', ({ messages, expect: { thing } }) => {
    const records = messages.flatMap(
      ({ topic, payload }) => read(`${topic}`.replace('write/', ''), `${payload}`) ?? [],
    )
    expect(records).toEqual(thing?.records)
  })
})

describe('a refusal', () => {
  const bytes = Buffer.from([0x6d, 0x20, 0x61, 0xff])
  it.each([
    ['value', '21.5', 'invalid_key: the key must follow the format: …/write/value/<key>'],
    ['value/', '21.5', 'invalid_key: the key must follow the format'],
    [
      'value/a',
      ' {"a":1}',
      'invalid_body: the body must be a bare value such as 21.5, but it is a JSON object or array',
    ],
    ['value/a', '[1,2]', 'which the format json reads: …/write/json'],
    ['value/a', bytes, 'invalid_utf8: the body must be UTF-8: at position 3'],
    ['json', '{"a":1', 'invalid_json: the body must be JSON: it ends at position 6'],
    ['json', bytes, 'invalid_utf8: '],
    [
      'json',
      '21.5',
      'invalid_body: the body must be an object such as {"temperature":21.5} or an array of them',
    ],
    ['json', '[{"a":1},2]', 'invalid_body: item 1 of the array must be an object'],
    ['json/a', '[1,{"a":1}]', 'invalid_body: item 0 of the array must be an object'],
    ['influx/a', 'm a=1', 'invalid_key: no key must follow the format, …/write/influx'],
    ['influx', bytes, 'invalid_utf8: '],
    ['influx', 'm a=1\n# b\n\ncpu', 'invalid_lines: line 4, column 4: a space and the fields must follow'],
    ['influx', ',a=b c=1', 'line 1, column 1: a line must begin with a measurement'],
    ['influx', 'm,a c=1', 'line 1, column 4: a tag must have the form name=value'],
    ['influx', 'm,a= c=1', 'line 1, column 5: a tag must have the form name=value'],
    ['influx', 'm,a=b=c d=1', 'line 1, column 6: a space and the fields must follow'],
    ['influx', 'm,=b c=1', 'line 1, column 3: a tag must have'],
    ['influx', 'm ', 'line 1, column 3: a field must have the form name=value'],
    ['influx', 'm a', 'line 1, column 4: a field must have'],
    ['influx', 'm a=', 'line 1, column 5: the value of a field must be a number such as 21.5'],
    ['influx', 'm a=1,b=x', 'line 1, column 9: the value of a field must be'],
    ['influx', 'm a=1,b=-1u', 'line 1, column 9: the value of a field must be'],
    ['influx', 'm a=1.5i', 'line 1, column 5: the value of a field must be'],
    ['influx', 'm a=1e999', 'that fits a 64-bit float'],
    ['influx', 'm a="x\ny\nb=1', 'line 1, column 5: a double quote must end the text'],
    ['influx', 'm a="x\ny"z', 'line 2, column 3: a comma, a space or the end of the line must follow'],
    ['influx', 'm a=1 noon', 'line 1, column 7: the timestamp must be a whole number of nanoseconds'],
    ['influx', 'm a=1 1.5', 'the timestamp must be a whole number'],
    [
      'influx',
      'm a=1 1465839830100400200 2',
      'line 1, column 27: the end of the line must follow the timestamp',
    ],
    [
      'influx',
      'm a=1 1465839830',
      'must be in nanoseconds, but as such it is in 1970 or before: its precision is another one',
    ],
    ['influx', 'm a=1 -1465839830100400200', 'it is in 1970 or before'],
  ])('of %s %j says what is wrong, and where', (topic, body, message) => {
    expect(refusal(topic, body)).toContain(message)
  })

  it('of a bad datetime is left to the rules of a record', () => {
    expect(read('json', '{"a":1,"datetime":20141022194750}')).toEqual([
      { key: 'a', value: 1, datetime: 20141022194750 },
    ])
  })

  it('comes before a reader has gone through more items than a write may have', () => {
    const items = Array.from({ length: 11_000 }, () => '{"a":1,"b":2}')
    expect(read('json', `[${items}]`)).toHaveLength(10_002)
  })
})

describe('parseLines()', () => {
  it.each<[Precision, string, string]>([
    ['ns', '1465839830100999999', '2016-06-13T17:43:50.100Z'],
    ['us', '1465839830100999', '2016-06-13T17:43:50.100Z'],
    ['ms', '1465839830100', '2016-06-13T17:43:50.100Z'],
    ['s', '1465839830', '2016-06-13T17:43:50.000Z'],
    ['m', '24430663', '2016-06-13T17:43:00.000Z'],
    ['h', '407177', '2016-06-13T17:00:00.000Z'],
  ])('reads a timestamp in %s, and cuts what is below a millisecond', (precision, timestamp, datetime) => {
    expect(parseLines(`m a=1 ${timestamp}`, precision).lines).toMatchObject([{ datetime }])
  })

  it('refuses a timestamp of every coarser precision, which would be in 1970', () => {
    const timestamps = {
      ns: '1465839830100400200',
      us: '1465839830100400',
      ms: '1465839830100',
      s: '1465839830',
      m: '24430663',
      h: '407177',
    }
    const precisions = Object.keys(timestamps) as Precision[]
    for (const [place, precision] of precisions.entries()) {
      for (const other of precisions.slice(place + 1)) {
        const { lines, unread } = parseLines(`m a=1 ${timestamps[other]}`, precision)
        expect({ lines, unread }).toMatchObject({ lines: [], unread: [{ place: 'line 1, column 7' }] })
      }
    }
    expect(parseLines(`m a=1 ${timestamps.ns}`, 's').unread[0]?.reason).toContain('10000 or later')
  })

  it('reads the lines around a bad one, and names 20 bad ones', () => {
    const { lines, unread } = parseLines('a b=1\nc\nd e="f\n"\nc d=x e\n"\ng h=2')
    expect(lines.map(({ measurement }) => measurement)).toEqual(['a', 'd', 'g'])
    expect(unread.map(({ place }) => place)).toEqual([
      'line 2, column 2',
      'line 5, column 5',
      'line 6, column 2',
    ])
    expect(parseLines('bad\n'.repeat(100)).unread).toHaveLength(20)
  })

  it('reads on behind a text that nothing ends', () => {
    const { lines, unread } = parseLines('a b="1\nc d=2\ne f=3')
    expect(lines).toHaveLength(2)
    expect(unread).toMatchObject([{ place: 'line 1, column 5' }])
  })

  it('needs no stack for a million escapes', () => {
    const escapes = '\\ '.repeat(1_000_000)
    const [line] = parseLines(`m${escapes},a=b c="${'\\"'.repeat(1_000_000)}"`).lines
    expect(line?.measurement).toHaveLength(1_000_001)
    expect(line?.fields[0]?.[1]).toHaveLength(1_000_000)
  })
})

describe('influxRecords()', () => {
  it('leaves the tags out of the key that stand for the thing', () => {
    const [line] = parseLines('cpu,cpu=cpu0,host=web01 idle=99.5').lines
    if (!line) throw new Error('the line was not read')
    expect(influxRecords(line, ['host'])).toEqual([{ key: 'cpu.cpu0.idle', value: 99.5 }])
  })
})
