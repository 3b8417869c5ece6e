import type { Reason } from '../../../../src/errors.ts'
import { allowedOrigin, each, eachText, get, goodBody, type HttpCase, head, rows, write } from '../case.ts'

const thing = '/v2/things/<token>'

/** Paths of a GET, and what comes back. */
const paths: Record<string, readonly [string, Reason | 200]> = {
  'dots that lead out of the root': ['/../../../../etc/passwd', 'not_found'],
  'dots behind the prefix': ['/v2/../admin/things', 'not_found'],
  'dots that would lead to an operator path': [`${thing}/../../admin/things`, 'not_found'],
  'encoded dots': ['/v2/%2e%2e/%2e%2e/etc/passwd', 'not_found'],
  'dots as a key': [`${thing}/resources/..`, 'unknown_resource'],
  'encoded dots as a key': [`${thing}/resources/%2e%2e`, 'unknown_resource'],
  'dots encoded twice as a key': [`${thing}/resources/%252e%252e`, 'unknown_resource'],
  'back slashes': ['/v2\\things\\<token>', 'not_found'],
  'a NUL as a key': [`${thing}/resources/%00`, 'unknown_resource'],
  'a NUL behind a key': [`${thing}/resources/hostile%00.txt`, 'unknown_resource'],
  'a NUL in the ref': ['/v2/things/<token>%00/resources', 'not_found'],
  'a line feed in the ref': ['/v2/things/<token>%0a/resources', 'not_found'],
  'a header in the ref': ['/v2/things/x%0d%0aSet-Cookie:%20a=b/resources', 'not_found'],
  'an encoded slash in the ref': ['/v2/things/<token>%2fresources', 'not_found'],
  'an encoded slash in front of the ref': ['/v2/things/%2f<token>/resources', 'not_found'],
  'an encoded question mark in the ref': ['/v2/things/<token>%3f/resources', 'not_found'],
  'a token with its first letter encoded twice': ['/v2/things/%2541/resources', 'not_found'],
  'an overlong slash': ['/v2/things/a%c0%afb/resources', 'bad_request'],
  'an overlong dot': ['/v2/%c0%ae%c0%ae/x', 'bad_request'],
  'a surrogate in UTF-8': ['/v2/things/%ed%a0%80/resources', 'bad_request'],
  'a percent that stands alone': ['/v2/things/%/resources', 'bad_request'],
  'a percent with one digit': ['/v2/things/%4/resources', 'bad_request'],
  'a percent with no digits': ['/v2/things/%zz/resources', 'bad_request'],
  'an encoding of the kind %u': ['/v2/things/%u0041/resources', 'bad_request'],
  'a percent at the end': ['/v2/things%', 'bad_request'],
  'the things in letters that look alike': ['/v2/%D1%82hings/<token>/resources', 'not_found'],
  'a token in wide letters': ['/v2/things/%EF%BC%A1%EF%BC%A1/resources', 'not_found'],
  'a token with a joiner of no width': ['/v2/things/<token>%e2%80%8b/resources', 'not_found'],
  'another case': ['/V2/THINGS/<token>/resources', 'not_found'],
  'doubled slashes are one': ['//v2//things//<token>//resources//', 200],
  'a thousand slashes are one': [`${'/'.repeat(1_000)}v2/things/<token>/resources`, 200],
  'nothing but slashes is the dashboard': ['/'.repeat(8_192), 200],
  'an empty ref': ['/v2/things//resources', 'not_found'],
  'a ref of 8 KiB': [`/v2/things/${'r'.repeat(8_192)}/resources`, 'not_found'],
  'a ref of 2,000 characters': [`/v2/things/${'r'.repeat(2_000)}/resources`, 'not_found'],
  'a key of 8 KiB': [`${thing}/resources/${'k'.repeat(8_192)}`, 'not_found'],
  'a key of encoded bytes of 8 KiB': [`${thing}/resources/${'%41'.repeat(2_730)}`, 'not_found'],
  'a thousand parts': [`/v2${'/a'.repeat(1_000)}`, 'not_found'],
  'a thousand parts at a thing': [`${thing}${'/a'.repeat(1_000)}`, 'not_found'],
  'a semicolon behind a thing': [`${thing};admin=true/resources`, 'not_found'],
  'a fragment': [`${thing}/resources#/../../admin`, 200],
  'a template': ['/v2/things/{{7*7}}/resources', 'not_found'],
  'a pattern of the router': ['/v2/things/:ref/resources', 'not_found'],
  'a wildcard of the router': ['/v2/*', 'not_found'],
  'a wildcard of MQTT as ref': ['/v2/things/+/resources', 'not_found'],
  'a hash sign of MQTT as ref': ['/v2/things/%23/resources', 'not_found'],
  '__proto__ as a path': ['/__proto__', 'not_found'],
  '__proto__ as ref': ['/v2/things/__proto__/resources', 'not_found'],
  '__proto__ as key': [`${thing}/resources/__proto__`, 'unknown_resource'],
  'constructor as key': [`${thing}/resources/constructor`, 'unknown_resource'],
  '__proto__ as settings path': [`${thing}/resources/$settings.__proto__`, 'unknown_resource'],
  'a magic key that there is not': [`${thing}/resources/$where`, 'unknown_resource'],
  'an encoded magic key': [`${thing}/resources/%24geo`, 'unknown_resource'],
  'the beginning of a token': [
    '/v2/things/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/resources',
    'not_found',
  ],
  'a token that nobody has': [`/v2/things/${'A'.repeat(43)}/resources`, 'unknown_thing_token'],
  'a token with one character more': ['/v2/things/<token>A/resources', 'not_found'],
  'an id without a credential': ['/v2/things/<id>/resources', 'missing_credential'],
  'a token on a path of operators': ['/v2/admin/things/<token>', 'method_not_allowed'],
  'the admin key as ref': ['/v2/things/<admin-key>/resources', 'unknown_thing_token'],
  'a dot file': ['/.env', 'not_found'],
  'a file of git': ['/.git/config', 'not_found'],
  'a page of PHP': ['/index.php?s=/Index/%5Cthink%5Capp/invokefunction', 'not_found'],
  'a lookup of log4j': ['/\x24{jndi:ldap://other.example/a}', 'not_found'],
  'a script': ['/<script>alert(1)</script>', 'not_found'],
  'a health check with more': ['/healthz/secret-path', 'not_found'],
}

export const pathCases: readonly HttpCase[] = [
  ...each(
    'open',
    paths,
    name => `a path: ${name}`,
    ([path, answer]) => [get(path), answer],
  ),
  ...rows('closed', {
    'a path: bytes above 127': [get('/v2/th\xefngs'), 'bad_request'],
  }),
]

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
  ...rows('closed', {
    'a query: bytes above 127': [get(`${records}?limit=\xff`), 'bad_request'],
    'a query: 10,000 parameters': [
      get(`${records}?${Array.from({ length: 10_000 }, (_, place) => `p${place}=1`).join('&')}`),
      'head_too_large',
    ],
  }),
  ...each(
    'open',
    queries,
    name => `a query: ${name}`,
    ([path, answer]) => [get(path), answer],
  ),
  ...each(
    'open',
    flags,
    name => `a query: ${name}`,
    query => [
      [
        head(`POST /v2/things/<token>?${query} HTTP/1.1`, 'Host: a', `Content-Length: ${goodBody.length}`),
        goodBody,
      ],
      'invalid_query',
    ],
  ),
  ...rows('open', {
    'a query: a flag as array is another parameter': [
      [
        head(
          'POST /v2/things/<token>?store[]=false HTTP/1.1',
          'Host: a',
          `Content-Length: ${goodBody.length}`,
        ),
        goodBody,
      ],
      201,
    ],
  }),
]

const host = 'Host: a'

/** Methods at the path of a thing. */
const methods = [
  ...[
    'TRACE',
    'PUT',
    'PATCH',
    'DELETE',
    'PURGE',
    'PROPFIND',
    'MKCOL',
    'LOCK',
    'SEARCH',
    'M-SEARCH',
    'REPORT',
  ],
  ...['SUBSCRIBE', 'LINK', 'BIND', 'SOURCE'],
]

/** Words that are no method that the parser knows. */
const unknown = ['get', 'Post', 'BREW', 'GETT', 'GE', 'POST,GET', '__proto__', 'TRACK', 'DEBUG']

/** What a client may ask for, and does not get, since the answer is what it is. */
const ignored: Record<string, readonly string[]> = {
  'Range: bytes=0-0': ['Range: bytes=0-0'],
  'ten thousand ranges': [`Range: bytes=${'0-0,'.repeat(2_500)}`],
  'If-None-Match: *': ['If-None-Match: *'],
  'If-Match: "none"': ['If-Match: "none"'],
  'If-Modified-Since in the future': ['If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT'],
  'If-Unmodified-Since long ago': ['If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT'],
  'If-Range': ['If-Range: "a"', 'Range: bytes=5-'],
  'Accept: nothing that there is': ['Accept: application/x-none;q=0'],
  'Accept of 10,000 types': [`Accept: ${'a/b,'.repeat(2_500)}`],
  'TE: trailers': ['TE: trailers, deflate;q=0.5', 'Connection: TE'],
  'Max-Forwards: 0': ['Max-Forwards: 0'],
  'X-Forwarded-For without a trusted proxy': ['X-Forwarded-For: 203.0.113.9'],
  'Upgrade-Insecure-Requests': ['Upgrade-Insecure-Requests: 1'],
}

const preflight = (...headers: readonly string[]) => [head(`OPTIONS ${thing} HTTP/1.1`, host, ...headers)]

export const methodCases: readonly HttpCase[] = [
  ...eachText(
    'open',
    methods,
    method => `${method} of a thing`,
    method => [head(`${method} ${thing} HTTP/1.1`, host), 'method_not_allowed', { allow: 'GET, HEAD, POST' }],
  ),
  ...eachText(
    'closed',
    unknown,
    method => `${method}, which is no method`,
    method => [head(`${method} ${thing} HTTP/1.1`, host), 'bad_request'],
  ),
  ...each(
    'open',
    ignored,
    name => `${name} is ignored`,
    headers => [get(`${thing}/resources`, ...headers), 200],
  ),
  ...rows('open', {
    'POST where only GET is': [head('POST /healthz HTTP/1.1', host), 'method_not_allowed'],
    'TRACE of the root': [head('TRACE / HTTP/1.1', host), 'method_not_allowed'],
    'TRACE of an unknown path': [head('TRACE /secret-path HTTP/1.1', host, 'X-A: secret'), 'not_found'],
    'Expect: 100-continue': [write(goodBody, 'Expect: 100-continue'), [100, 201]],
    'Expect of something else': [write(goodBody, 'Expect: the-unexpected'), 201],
    'an empty Expect': [write(goodBody, 'Expect:'), 201],
    'a preflight of an allowed origin': [
      preflight(`Origin: ${allowedOrigin}`, 'Access-Control-Request-Method: POST'),
      200,
      { 'access-control-allow-origin': allowedOrigin, vary: 'Origin' },
    ],
    'a preflight that asks for a header that is none': [
      preflight(`Origin: ${allowedOrigin}`, 'Access-Control-Request-Headers: a, {"b":1}'),
      200,
      { 'access-control-allow-headers': undefined },
    ],
    'a preflight that asks for 2,000 headers': [
      preflight(`Origin: ${allowedOrigin}`, `Access-Control-Request-Headers: ${'a,'.repeat(2_000)}a`),
      200,
    ],
    'a preflight that asks for headers with spaces without end': [
      preflight(`Origin: ${allowedOrigin}`, `Access-Control-Request-Headers: a${' '.repeat(15_000)}!`),
      200,
      { 'access-control-allow-headers': undefined },
    ],
    'a preflight for the local network': [
      preflight(`Origin: ${allowedOrigin}`, 'Access-Control-Request-Private-Network: true'),
      200,
      {
        'access-control-allow-private-network': undefined,
        'access-control-allow-credentials': undefined,
      },
    ],
    'a read from another origin': [
      get(`${thing}/resources`, 'Origin: https://other.example'),
      200,
      { 'access-control-allow-origin': undefined },
    ],
    'a device gets no headers of other origins': [
      get(`${thing}/resources`),
      200,
      {
        'access-control-allow-origin': undefined,
        vary: undefined,
        'set-cookie': undefined,
        server: undefined,
      },
    ],
  }),
  ...rows('half-closed', {
    'Expect: 100-continue of a body that is too large': [
      head(`POST ${thing} HTTP/1.1`, host, 'Expect: 100-continue', 'Content-Length: 2000000'),
      'body_too_large',
    ],
  }),
  ...eachText(
    'open',
    [
      'https://other.example',
      'null',
      '*',
      `${allowedOrigin}.other.example`,
      `${allowedOrigin}:8443`,
      'http://dashboard.example',
      'HTTPS://DASHBOARD.EXAMPLE',
      `${allowedOrigin}/`,
      `${allowedOrigin}, https://other.example`,
      '__proto__',
      `https://${'o'.repeat(10_000)}`,
    ],
    origin => `a preflight of ${origin.slice(0, 40)}`,
    origin => [
      preflight(`Origin: ${origin}`, 'Access-Control-Request-Method: POST'),
      200,
      { 'access-control-allow-origin': undefined, vary: 'Origin' },
    ],
  ),
]
