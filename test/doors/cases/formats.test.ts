import { formatDatetime, parseDatetime } from '../../../src/core/record/datetime.ts'
import { type Sample, samples } from '../../formats/samples.ts'
import { type Case, created, received, refusal, type Step, tryCases } from '../case-table.ts'
import type { Answer } from '../doors.ts'
import type { ReadRecord } from '../read-back.ts'

function sent(format: string, body: Step['body'], answer: Answer = created): Step {
  return { format, body, answer }
}

function stored(format: string, body: Step['body'], values: Readonly<Record<string, unknown>>): Case {
  const records = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, [received(value)]]))
  return {
    name: `${format} ← ${JSON.stringify(body)}`,
    steps: [sent(format, body)],
    records,
  }
}

function refused(format: string, body: Step['body'], answer: Answer): Case {
  return { name: `${format} ← ${JSON.stringify(body)}`, steps: [sent(format, body, answer)], records: {} }
}

/** A datetime as it reads back. */
function read(sent: string): string {
  return formatDatetime(parseDatetime(sent) ?? Number.NaN)
}

/** A sample of a device, as it is written and read back. */
function published({ name, messages, expect: { thing } }: Sample): Case {
  const records: Record<string, ReadRecord[]> = {}
  for (const { key, value, datetime } of thing?.records ?? []) {
    records[key] ??= []
    records[key].push({ value, datetime: datetime === undefined ? 'receipt' : read(datetime) })
  }
  const steps = messages.map(({ topic = '', payload }) =>
    sent(topic.replace('write/', ''), payload as Step['body']),
  )
  return { name, steps, records }
}

/** Contract §2.4. */
tryCases({
  ...Object.fromEntries(
    ['value', 'json', 'influx'].map(format => [
      `a sample of ${format}`,
      (samples.get(format) ?? []).map(published),
    ]),
  ),
  value: [
    stored('value/temperature', '21.5', { temperature: 21.5 }),
    stored('value/cellar/temperature', '21.5', { 'cellar.temperature': 21.5 }),
    stored('value/a/b', ' +3\n', { 'a.b': 3 }),
    stored('value/a', '.5', { a: 0.5 }),
    stored('value/a', '-1e3', { a: -1000 }),
    stored('value/door', 'open', { door: 'open' }),
    stored('value/on', 'TRUE', { on: true }),
    stored('value/switch:0/output', 'false', { 'switch_0.output': false }),
    stored('value/a', 'unavailable', {}),
    stored('value/a', 'NaN', {}),
    stored('value/a', '', {}),
    refused('value', '21.5', refusal('invalid_key')),
    refused('value/', '21.5', refusal('invalid_key')),
    refused('value/a', '{"temperature":21.5}', refusal('invalid_body')),
    refused('value/a', Buffer.of(0xff), refusal('invalid_utf8')),
    refused(
      'value/a',
      '1e999',
      refusal('number_out_of_range', [{ index: 0, field: 'value', reason: 'number_out_of_range' }]),
    ),
  ],
  json: [
    stored('json', { temperature: 27.34, humidity: 44.72 }, { temperature: 27.34, humidity: 44.72 }),
    stored(
      'json/cellar',
      { air: { t: 1, ok: true, bad: null } },
      { 'cellar.air.t': 1, 'cellar.air.ok': true },
    ),
    stored('json', { list: [1, 2], none: 'unavailable' }, { list: [1, 2] }),
    stored('json', {}, {}),
    {
      name: 'an array of objects, each with a time of its own',
      steps: [
        sent('json', [
          { t: 1, datetime: '20261121093000' },
          { t: 2, datetime: '2026-11-21T10:31:00+01:00' },
        ]),
      ],
      records: {
        t: [
          { value: 1, datetime: '2026-11-21T09:30:00.000Z' },
          { value: 2, datetime: '2026-11-21T09:31:00.000Z' },
        ],
      },
    },
    refused('json', '{"a":', refusal('invalid_json')),
    refused('json', '', refusal('invalid_json')),
    refused('json', '21.5', refusal('invalid_body')),
    {
      name: '10,001 members',
      steps: [
        sent(
          'json',
          Object.fromEntries(Array.from({ length: 10_001 }, (_, place) => [`m${place}`, place])),
          refusal('too_many_records'),
        ),
      ],
      records: {},
    },
    {
      name: 'a wrong datetime',
      steps: [
        sent(
          'json',
          { a: 1, datetime: 'yesterday' },
          refusal('invalid_datetime', [{ index: 0, field: 'datetime', reason: 'invalid_datetime' }]),
        ),
      ],
      records: {},
    },
  ],
  influx: [
    {
      name: 'a line with tags and a time',
      steps: [sent('influx', 'weather,location=us-midwest,season=summer temperature=82 1465839830100400200')],
      records: {
        'weather.us-midwest.summer.temperature': [{ value: 82, datetime: '2016-06-13T17:43:50.100Z' }],
      },
    },
    refused('influx', 'm a=1\nno line', refusal('invalid_lines')),
    refused('influx', 'm a=1 1465839830', refusal('invalid_lines')),
    refused('influx/cellar', 'm a=1', refusal('invalid_key')),
    stored('influx', '', {}),
    stored('influx', 'm a=1i,b="x y",c=t\n# nothing\n\nm d=-2.5e1', {
      'm.a': 1,
      'm.b': 'x y',
      'm.c': true,
      'm.d': -25,
    }),
  ],
  'an unknown format': [
    refused('senml', '[]', refusal('unknown_format')),
    refused('senml/a/b', '[]', refusal('unknown_format')),
    refused('VALUE/a', '21.5', refusal('unknown_format')),
  ],
  'a plain write that was meant for a format': [
    {
      name: 'an object',
      steps: [{ body: { temperature: 21.5 }, answer: refusal('invalid_values') }],
      records: {},
    },
    { name: 'a number', steps: [{ body: '21.5', answer: refusal('invalid_body') }], records: {} },
    { name: 'a line', steps: [{ body: 'm a=1', answer: refusal('invalid_json') }], records: {} },
  ],
})
