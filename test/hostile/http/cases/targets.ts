import {
  type Answered,
  allowedOrigin,
  answered,
  each,
  get,
  goodBody,
  type HttpCase,
  head,
  rows,
  write,
} from '../case.ts'

const host = 'Host: a'
const thing = '/v2/things/<token>'

/** Paths of a GET, and what comes back. */
const paths: Answered<string> = {
  not_found: {
    'dots that lead out of the root': '/../../../../etc/passwd',
    'dots behind the prefix': '/v2/../admin/things',
    'dots that would lead to an operator path': `${thing}/../../admin/things`,
    'encoded dots': '/v2/%2e%2e/%2e%2e/etc/passwd',
    'back slashes': '/v2\\things\\<token>',
    'a NUL in the ref': '/v2/things/<token>%00/resources',
    'a line feed in the ref': '/v2/things/<token>%0a/resources',
    'a header in the ref': '/v2/things/x%0d%0aSet-Cookie:%20a=b/resources',
    'an encoded slash in the ref': '/v2/things/<token>%2fresources',
    'an encoded slash in front of the ref': '/v2/things/%2f<token>/resources',
    'an encoded question mark in the ref': '/v2/things/<token>%3f/resources',
    'a token with its first letter encoded twice': '/v2/things/%2541/resources',
    'the things in letters that look alike': '/v2/%D1%82hings/<token>/resources',
    'a token in wide letters': '/v2/things/%EF%BC%A1%EF%BC%A1/resources',
    'a token with a joiner of no width': '/v2/things/<token>%e2%80%8b/resources',
    'another case': '/V2/THINGS/<token>/resources',
    'an empty ref': '/v2/things//resources',
    'a ref of 8 KiB': `/v2/things/${'r'.repeat(8_192)}/resources`,
    'a ref of 2,000 characters': `/v2/things/${'r'.repeat(2_000)}/resources`,
    'a key of 8 KiB': `${thing}/resources/${'k'.repeat(8_192)}`,
    'a key of encoded bytes of 8 KiB': `${thing}/resources/${'%41'.repeat(2_730)}`,
    'a thousand parts': `/v2${'/a'.repeat(1_000)}`,
    'a thousand parts at a thing': `${thing}${'/a'.repeat(1_000)}`,
    'a semicolon behind a thing': `${thing};admin=true/resources`,
    'a template': '/v2/things/{{7*7}}/resources',
    'a pattern of the router': '/v2/things/:ref/resources',
    'a wildcard of the router': '/v2/*',
    'a wildcard of MQTT as ref': '/v2/things/+/resources',
    'a hash sign of MQTT as ref': '/v2/things/%23/resources',
    '__proto__ as a path': '/__proto__',
    '__proto__ as ref': '/v2/things/__proto__/resources',
    'the beginning of a token': '/v2/things/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/resources',
    'a token with one character more': '/v2/things/<token>A/resources',
    'a dot file': '/.env',
    'a file of git': '/.git/config',
    'a page of PHP': '/index.php?s=/Index/%5Cthink%5Capp/invokefunction',
    'a lookup of log4j': '/\x24{jndi:ldap://other.example/a}',
    'a script': '/<script>alert(1)</script>',
    'a health check with more': '/healthz/secret-path',
  },
  unknown_resource: {
    'dots as a key': `${thing}/resources/..`,
    'encoded dots as a key': `${thing}/resources/%2e%2e`,
    'dots encoded twice as a key': `${thing}/resources/%252e%252e`,
    'a NUL as a key': `${thing}/resources/%00`,
    'a NUL behind a key': `${thing}/resources/hostile%00.txt`,
    '__proto__ as key': `${thing}/resources/__proto__`,
    'constructor as key': `${thing}/resources/constructor`,
    '__proto__ as settings path': `${thing}/resources/$settings.__proto__`,
    'a magic key that there is not': `${thing}/resources/$where`,
    'an encoded magic key': `${thing}/resources/%24geo`,
  },
  bad_request: {
    'an overlong slash': '/v2/things/a%c0%afb/resources',
    'an overlong dot': '/v2/%c0%ae%c0%ae/x',
    'a surrogate in UTF-8': '/v2/things/%ed%a0%80/resources',
    'a percent that stands alone': '/v2/things/%/resources',
    'a percent with one digit': '/v2/things/%4/resources',
    'a percent with no digits': '/v2/things/%zz/resources',
    'an encoding of the kind %u': '/v2/things/%u0041/resources',
    'a percent at the end': '/v2/things%',
  },
  200: {
    'doubled slashes are one': '//v2//things//<token>//resources//',
    'a thousand slashes are one': `${'/'.repeat(1_000)}v2/things/<token>/resources`,
    'nothing but slashes is the dashboard': '/'.repeat(8_192),
    'a fragment': `${thing}/resources#/../../admin`,
  },
  unknown_thing_token: {
    'a token that nobody has': `/v2/things/${'A'.repeat(43)}/resources`,
    'the admin key as ref': '/v2/things/<admin-key>/resources',
  },
  missing_credential: { 'an id without a credential': '/v2/things/<id>/resources' },
  method_not_allowed: { 'a token on a path of operators': '/v2/admin/things/<token>' },
}

export const pathCases: readonly HttpCase[] = [
  ...answered('a path: *', paths, path => get(path)),
  ...rows('closed', {
    'a path: bytes above 127': [get('/v2/th\xefngs'), 'bad_request'],
  }),
]

const records = '/v2/things/<token>/resources/hostile'
const series = '/v2/things/<token>/aggregates'
const date = '/v2/utils/date?thingToken=<token>'

const parameters = (count: number, value = '') =>
  Array.from({ length: count }, (_, place) => `p${place}${value}`).join('&')

/** Paths with a query, and what comes back of a GET. */
const queries: Answered<string> = {
  invalid_limit: {
    'a limit twice': `${records}?limit=1&limit=1`,
    'a limit of 0': `${records}?limit=0`,
    'a negative limit': `${records}?limit=-1`,
    'a hexadecimal limit': `${records}?limit=0x10`,
    'a limit with an exponent': `${records}?limit=1e3`,
    'an empty limit': `${records}?limit=`,
    'a limit of NUL': `${records}?limit=%00`,
    'a limit in other digits': `${records}?limit=%D9%A1`,
    'a percent that stands alone': `${records}?limit=%`,
    'overlong bytes': `${records}?limit=%c0%b1`,
  },
  invalid_query: {
    'a limit as array': `${records}?limit[]=5`,
    'a limit as object': `${records}?limit[__proto__][polluted]=1`,
    'a percent in a name': `${records}?%zz=1`,
    '2,000 parameters': `${records}?${parameters(2_000)}`,
    '10,000 equal signs': `${records}?${'='.repeat(10_000)}`,
    'a second question mark': `${records}?a?limit=0`,
    'names of a prototype': `${records}?__proto__=1&constructor=2`,
    'an order that there is not': `${records}?order=random()`,
    'a format that there is not': `${date}&format=%25s%25n`,
    'a token twice': `${date}&thingToken=<token>`,
    'a token as array': '/v2/utils/date?thingToken[]=<token>',
    'a keepAlive that is none': '/v2/things/<token>?keepAlive=-1',
    'a session twice': '/v2/things/<id>?session=a&session=b',
  },
  200: {
    'a limit of 1,000 digits': `${records}?limit=${'9'.repeat(1_000)}`,
    '10,000 separators': `${records}?${'&'.repeat(10_000)}`,
    'a range that ends before it starts': `${records}?startDate=20250101000000&endDate=20200101000000`,
    '1,000 aggregates': `${records}?aggregate=${'avg,'.repeat(1_000)}avg&interval=1h`,
    'an interval of seconds over all time': `${records}?aggregate=avg&interval=1s&startDate=19700101000000&endDate=20260101000000`,
    '9,999,999,999 months': `${records}?aggregate=avg&interval=9999999999mo&tz=Pacific/Niue`,
    '9,999,999,999 days': `${records}?aggregate=avg&interval=9999999999d&tz=Pacific/Niue`,
    'empty seconds of all time': `${records}?aggregate=avg&interval=1s&empty=1&startDate=19700101000000&endDate=99991231235959`,
    'empty days of all time': `${records}?aggregate=avg&interval=1d&empty=1&tz=Africa/Casablanca&startDate=19700101000000&endDate=99991231235959&limit=10000`,
    'points of all time': `${records}?points=1&tz=America/Adak&startDate=19700101000000&endDate=9999-12-31T23:59:59-23:59`,
    'points of 1,000 digits': `${records}?points=${'9'.repeat(1_000)}`,
    'a key 1,000 times': `${series}?keys=${'hostile,'.repeat(1_000)}hostile&aggregate=avg&interval=1h`,
    'keys that every object has': `${series}?keys=__proto__,constructor,hostile&points=1`,
  },
  invalid_cursor: {
    'a cursor that nobody gave': `${records}?cursor=AAAA`,
    'a cursor of 10,000 characters': `${records}?cursor=${'A'.repeat(10_000)}`,
    'an empty cursor': `${records}?cursor=`,
  },
  invalid_range: {
    'a date that is none': `${records}?startDate=yesterday`,
    'a date of 10,000 digits': `${records}?startDate=${'2'.repeat(10_000)}`,
    'a date twice': `${records}?startDate=20200101000000&startDate=20200101000000`,
  },
  invalid_aggregate: { 'an aggregate that there is not': `${records}?aggregate=__proto__&interval=1h` },
  invalid_interval: {
    'an interval of 0': `${records}?aggregate=avg&interval=0s`,
    'an interval of 1,000 digits': `${records}?aggregate=avg&interval=${'9'.repeat(1_000)}d`,
    'a month of 1,000 digits': `${records}?aggregate=avg&interval=${'9'.repeat(1_000)}mo`,
  },
  invalid_points: { 'points that are none': `${records}?points=__proto__` },
  invalid_time_zone: {
    'a time zone that is none': `${records}?points=1&tz=constructor`,
    'a time zone of 10,000 characters': `${records}?points=1&tz=${'A'.repeat(10_000)}`,
    'a time zone that is a path': `${records}?points=1&tz=../../../etc/localtime`,
  },
  invalid_keys: {
    'no keys': `${series}?aggregate=avg&interval=1h`,
    'keys of 10,000 characters': `${series}?keys=${'a'.repeat(10_000)}&points=1`,
    'keys twice': `${series}?keys=a&keys=b&points=1`,
  },
  missing_thing_token: { 'a token that is empty': '/v2/utils/date?thingToken=' },
  unknown_thing_token: { 'a token that nobody has': '/v2/utils/date?thingToken=secret-of-nobody' },
  invalid_session: { 'a session that nobody has': '/v2/things/<id>?session=secret-of-nobody' },
  missing_credential: {
    'a session where a header is wanted': '/v2/things/<id>/resources?session=<token>',
    'a bounding box that is none': '/v2/admin/things?bbox=1,2,3',
  },
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

/** A good write with this query. */
const flagged = (query: string) => [
  head(`POST ${thing}?${query} HTTP/1.1`, host, `Content-Length: ${goodBody.length}`),
  goodBody,
]

/** Formats and levels of a write, and what comes back. */
const formats: Answered<string> = {
  unknown_format: {
    'a name that every object has': 'constructor',
    '__proto__ with levels': '__proto__/a/b',
    'a format of 8 KiB': 'f'.repeat(8_192),
    'a NUL': '%00',
    'a format behind dots': '../json',
    'a format in capitals': 'VALUE/a',
  },
  invalid_key: { 'no level': 'value', 'levels of encoded slashes': 'value%2f%2f%2f' },
  201: {
    '__proto__ as level': 'value/__proto__',
    'levels up and over': 'value/a/../../../<other-id>',
    'encoded levels up and over': 'value/%2e%2e%2f%2e%2e%2f<other-id>',
    'a thousand levels': `value${'/a'.repeat(1_000)}`,
    'a level of 8 KiB': `json/${'k'.repeat(8_192)}`,
    'a magic key': 'value/$geo',
    'a wildcard': 'value/+/%23',
  },
}

/** A reading in a format. */
const formatted = (address: string) => [
  head(`POST ${thing}/write/${address} HTTP/1.1`, host, 'Content-Length: 1'),
  '1',
]

export const queryCases: readonly HttpCase[] = [
  ...rows('closed', {
    'a query: bytes above 127': [get(`${records}?limit=\xff`), 'bad_request'],
    'a query: 10,000 parameters': [get(`${records}?${parameters(10_000, '=1')}`), 'head_too_large'],
  }),
  ...answered('a query: *', queries, path => get(path)),
  ...answered('a query: *', { invalid_query: flags }, flagged),
  ...answered('a format: *', formats, formatted),
  ...rows('open', {
    'a query: a flag as array is another parameter': [flagged('store[]=false'), 201],
  }),
]

/** Methods at the path of a thing. */
const methods =
  'TRACE PUT PATCH DELETE PURGE PROPFIND MKCOL LOCK SEARCH M-SEARCH REPORT SUBSCRIBE LINK BIND SOURCE'.split(
    ' ',
  )

/** Words that are no method that the parser knows. */
const unknown = 'get Post BREW GETT GE POST,GET __proto__ TRACK DEBUG'.split(' ')

/** Whose pages may not call the server. */
const foreignOrigins = [
  ...['https://other.example', 'null', '*', '__proto__', `https://${'o'.repeat(10_000)}`],
  ...[`${allowedOrigin}.other.example`, `${allowedOrigin}:8443`, `${allowedOrigin}/`],
  ...['http://dashboard.example', 'HTTPS://DASHBOARD.EXAMPLE', `${allowedOrigin}, https://other.example`],
]

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

/** Asks for what follows `Access-Control-Request-`. */
const preflight = (asked: string, origin = allowedOrigin) =>
  head(`OPTIONS ${thing} HTTP/1.1`, host, `Origin: ${origin}`, `Access-Control-Request-${asked}`)

/** Headers that the answer must not have. */
const without = (...names: readonly string[]) => Object.fromEntries(names.map(name => [name, undefined]))

const ofThing = (method: string) => head(`${method} ${thing} HTTP/1.1`, host)

export const methodCases: readonly HttpCase[] = [
  ...each('open', '* of a thing', methods, method => [
    ofThing(method),
    'method_not_allowed',
    { allow: 'GET, HEAD, POST' },
  ]),
  ...each('closed', '*, which is no method', unknown, method => [ofThing(method), 'bad_request']),
  ...answered('* is ignored', { 200: ignored }, headers => get(`${thing}/resources`, ...headers)),
  ...rows('open', {
    'POST where only GET is': [head('POST /healthz HTTP/1.1', host), 'method_not_allowed'],
    'TRACE of the root': [head('TRACE / HTTP/1.1', host), 'method_not_allowed'],
    'TRACE of an unknown path': [head('TRACE /secret-path HTTP/1.1', host, 'X-A: secret'), 'not_found'],
    'Expect: 100-continue': [write(goodBody, 'Expect: 100-continue'), [100, 201]],
    'Expect of something else': [write(goodBody, 'Expect: the-unexpected'), 201],
    'an empty Expect': [write(goodBody, 'Expect:'), 201],
    'a preflight of an allowed origin': [
      preflight('Method: POST'),
      200,
      { 'access-control-allow-origin': allowedOrigin, vary: 'Origin' },
    ],
    'a preflight that asks for 2,000 headers': [preflight(`Headers: ${'a,'.repeat(2_000)}a`), 200],
    'a preflight that asks for a header that is none': [
      preflight('Headers: a, {"b":1}'),
      200,
      without('access-control-allow-headers'),
    ],
    'a preflight that asks for headers with spaces without end': [
      preflight(`Headers: a${' '.repeat(15_000)}!`),
      200,
      without('access-control-allow-headers'),
    ],
    'a preflight for the local network': [
      preflight('Private-Network: true'),
      200,
      without('access-control-allow-private-network', 'access-control-allow-credentials'),
    ],
    'a read from another origin': [
      get(`${thing}/resources`, 'Origin: https://other.example'),
      200,
      without('access-control-allow-origin'),
    ],
    'a device gets no headers of other origins': [
      get(`${thing}/resources`),
      200,
      without('access-control-allow-origin', 'vary', 'set-cookie', 'server'),
    ],
  }),
  ...rows('half-closed', {
    'Expect: 100-continue of a body that is too large': [
      head(`POST ${thing} HTTP/1.1`, host, 'Expect: 100-continue', 'Content-Length: 2000000'),
      'body_too_large',
    ],
  }),
  ...each('open', 'a preflight of *', foreignOrigins, origin => [
    preflight('Method: POST', origin),
    200,
    { 'access-control-allow-origin': undefined, vary: 'Origin' },
  ]),
]
