import type { Reason } from '../../../../src/errors.ts'
import { get, goodBody, type HttpCase, head } from '../case.ts'

const records = '/v2/things/<token>/resources/hostile'
const series = '/v2/things/<token>/aggregates'
const date = '/v2/utils/date?thingToken=<token>'
const many = Array.from({ length: 2_000 }, (_, place) => `p${place}`).join('&')

/** Paths with a query, and what comes back of a GET. */
const queries: Record<string, readonly [string, Reason | 200]> = {
  'a limit twice': [`${records}?limit=1&limit=1`, 'invalid_limit'],
  'a limit as array': [`${records}?limit[]=5`, 'invalid_query'],
  'a limit as object': [`${records}?limit[__proto__][polluted]=1`, 'invalid_query'],
  'a limit of 0': [`${records}?limit=0`, 'invalid_limit'],
  'a negative limit': [`${records}?limit=-1`, 'invalid_limit'],
  'a limit of 1,000 digits': [`${records}?limit=${'9'.repeat(1_000)}`, 200],
  'a hexadecimal limit': [`${records}?limit=0x10`, 'invalid_limit'],
  'a limit with an exponent': [`${records}?limit=1e3`, 'invalid_limit'],
  'an empty limit': [`${records}?limit=`, 'invalid_limit'],
  'a limit of NUL': [`${records}?limit=%00`, 'invalid_limit'],
  'a limit in other digits': [`${records}?limit=%D9%A1`, 'invalid_limit'],
  'a percent that stands alone': [`${records}?limit=%`, 'invalid_limit'],
  'a percent in a name': [`${records}?%zz=1`, 'invalid_query'],
  'overlong bytes': [`${records}?limit=%c0%b1`, 'invalid_limit'],
  '2,000 parameters': [`${records}?${many}`, 'invalid_query'],
  '10,000 separators': [`${records}?${'&'.repeat(10_000)}`, 200],
  '10,000 equal signs': [`${records}?${'='.repeat(10_000)}`, 'invalid_query'],
  'a second question mark': [`${records}?a?limit=0`, 'invalid_query'],
  'names of a prototype': [`${records}?__proto__=1&constructor=2`, 'invalid_query'],
  'a cursor that nobody gave': [`${records}?cursor=AAAA`, 'invalid_cursor'],
  'a cursor of 10,000 characters': [`${records}?cursor=${'A'.repeat(10_000)}`, 'invalid_cursor'],
  'an empty cursor': [`${records}?cursor=`, 'invalid_cursor'],
  'a date that is none': [`${records}?startDate=yesterday`, 'invalid_range'],
  'a date of 10,000 digits': [`${records}?startDate=${'2'.repeat(10_000)}`, 'invalid_range'],
  'a date twice': [`${records}?startDate=20200101000000&startDate=20200101000000`, 'invalid_range'],
  'a range that ends before it starts': [`${records}?startDate=20250101000000&endDate=20200101000000`, 200],
  'an order that there is not': [`${records}?order=random()`, 'invalid_query'],
  'an aggregate that there is not': [`${records}?aggregate=__proto__&interval=1h`, 'invalid_aggregate'],
  '1,000 aggregates': [`${records}?aggregate=${'avg,'.repeat(1_000)}avg&interval=1h`, 200],
  'an interval of 0': [`${records}?aggregate=avg&interval=0s`, 'invalid_interval'],
  'an interval of 1,000 digits': [
    `${records}?aggregate=avg&interval=${'9'.repeat(1_000)}d`,
    'invalid_interval',
  ],
  'an interval of seconds over all time': [
    `${records}?aggregate=avg&interval=1s&startDate=19700101000000&endDate=20260101000000`,
    200,
  ],
  'a month of 1,000 digits': [`${records}?aggregate=avg&interval=${'9'.repeat(1_000)}mo`, 'invalid_interval'],
  '9,999,999,999 months': [`${records}?aggregate=avg&interval=9999999999mo&tz=Pacific/Niue`, 200],
  '9,999,999,999 days': [`${records}?aggregate=avg&interval=9999999999d&tz=Pacific/Niue`, 200],
  'empty seconds of all time': [
    `${records}?aggregate=avg&interval=1s&empty=1&startDate=19700101000000&endDate=99991231235959`,
    200,
  ],
  'empty days of all time': [
    `${records}?aggregate=avg&interval=1d&empty=1&tz=Africa/Casablanca&startDate=19700101000000&endDate=99991231235959&limit=10000`,
    200,
  ],
  'points of all time': [
    `${records}?points=1&tz=America/Adak&startDate=19700101000000&endDate=9999-12-31T23:59:59-23:59`,
    200,
  ],
  'points of 1,000 digits': [`${records}?points=${'9'.repeat(1_000)}`, 200],
  'points that are none': [`${records}?points=__proto__`, 'invalid_points'],
  'a time zone that is none': [`${records}?points=1&tz=constructor`, 'invalid_time_zone'],
  'a time zone of 10,000 characters': [`${records}?points=1&tz=${'A'.repeat(10_000)}`, 'invalid_time_zone'],
  'a time zone that is a path': [`${records}?points=1&tz=../../../etc/localtime`, 'invalid_time_zone'],
  'no keys': [`${series}?aggregate=avg&interval=1h`, 'invalid_keys'],
  'a key 1,000 times': [`${series}?keys=${'hostile,'.repeat(1_000)}hostile&aggregate=avg&interval=1h`, 200],
  'keys of 10,000 characters': [`${series}?keys=${'a'.repeat(10_000)}&points=1`, 'invalid_keys'],
  'keys twice': [`${series}?keys=a&keys=b&points=1`, 'invalid_keys'],
  'keys that every object has': [`${series}?keys=__proto__,constructor,hostile&points=1`, 200],
  'a format that there is not': [`${date}&format=%25s%25n`, 'invalid_query'],
  'a token twice': [`${date}&thingToken=<token>`, 'invalid_query'],
  'a token as array': ['/v2/utils/date?thingToken[]=<token>', 'invalid_query'],
  'a token that is empty': ['/v2/utils/date?thingToken=', 'missing_thing_token'],
  'a token that nobody has': ['/v2/utils/date?thingToken=secret-of-nobody', 'unknown_thing_token'],
  'a keepAlive that is none': ['/v2/things/<token>?keepAlive=-1', 'invalid_query'],
  'a session that nobody has': ['/v2/things/<id>?session=secret-of-nobody', 'invalid_session'],
  'a session twice': ['/v2/things/<id>?session=a&session=b', 'invalid_query'],
  'a session where a header is wanted': ['/v2/things/<id>/resources?session=<token>', 'missing_credential'],
  'a bounding box that is none': ['/v2/admin/things?bbox=1,2,3', 'missing_credential'],
}

const flags: Record<string, string> = {
  'a flag twice': 'store=true&store=true',
  'a flag twice, once in vain': 'store=false&store=true',
  'an empty flag': 'store=',
  'a flag without a value': 'store',
  'a flag of 2': 'broadcast=2',
  'a flag with a space': 'broadcast=true%20',
  'a flag with a NUL': 'partial=true%00',
  'a flag in other letters': 'partial=tru%D0%B5',
}

export const queryCases: readonly HttpCase[] = [
  {
    name: 'a query: bytes above 127',
    sends: get(`${records}?limit=\xff`),
    answers: ['bad_request'],
    closes: true,
  },
  {
    name: 'a query: 10,000 parameters',
    sends: get(`${records}?${Array.from({ length: 10_000 }, (_, place) => `p${place}=1`).join('&')}`),
    answers: ['head_too_large'],
    closes: true,
  },
  ...Object.entries(queries).map(
    ([name, [path, answer]]): HttpCase => ({ name: `a query: ${name}`, sends: get(path), answers: [answer] }),
  ),
  ...Object.entries(flags).map(
    ([name, query]): HttpCase => ({
      name: `a query: ${name}`,
      sends: [
        head(`POST /v2/things/<token>?${query} HTTP/1.1`, 'Host: a', `Content-Length: ${goodBody.length}`),
        goodBody,
      ],
      answers: ['invalid_query'],
    }),
  ),
  {
    name: 'a query: a flag as array is another parameter',
    sends: [
      head('POST /v2/things/<token>?store[]=false HTTP/1.1', 'Host: a', `Content-Length: ${goodBody.length}`),
      goodBody,
    ],
    answers: [201],
  },
]
