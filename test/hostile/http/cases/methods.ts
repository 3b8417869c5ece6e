import type { Reason } from '../../../../src/errors.ts'
import { allowedOrigin, get, goodBody, type HttpCase, head, write } from '../case.ts'

const thing = '/v2/things/<token>'
const host = 'Host: a'

/** Methods at the path of a thing. */
const methods: Record<string, Reason> = {
  TRACE: 'method_not_allowed',
  PUT: 'method_not_allowed',
  PATCH: 'method_not_allowed',
  DELETE: 'method_not_allowed',
  PURGE: 'method_not_allowed',
  PROPFIND: 'method_not_allowed',
  MKCOL: 'method_not_allowed',
  LOCK: 'method_not_allowed',
  SEARCH: 'method_not_allowed',
  'M-SEARCH': 'method_not_allowed',
  REPORT: 'method_not_allowed',
  SUBSCRIBE: 'method_not_allowed',
  LINK: 'method_not_allowed',
  BIND: 'method_not_allowed',
  SOURCE: 'method_not_allowed',
}

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
  ...Object.entries(methods).map(
    ([method, answer]): HttpCase => ({
      name: `${method} of a thing`,
      sends: [head(`${method} ${thing} HTTP/1.1`, host)],
      answers: [answer],
      headers: { allow: 'GET, HEAD, POST' },
    }),
  ),
  ...unknown.map(
    (method): HttpCase => ({
      name: `${method}, which is no method`,
      sends: [head(`${method} ${thing} HTTP/1.1`, host)],
      answers: ['bad_request'],
      closes: true,
    }),
  ),
  ...Object.entries(ignored).map(
    ([name, headers]): HttpCase => ({
      name: `${name} is ignored`,
      sends: get(`${thing}/resources`, ...headers),
      answers: [200],
    }),
  ),
  {
    name: 'POST where only GET is',
    sends: [head('POST /healthz HTTP/1.1', host)],
    answers: ['method_not_allowed'],
  },
  { name: 'TRACE of the root', sends: [head('TRACE / HTTP/1.1', host)], answers: ['method_not_allowed'] },
  {
    name: 'TRACE of an unknown path',
    sends: [head('TRACE /secret-path HTTP/1.1', host, 'X-A: secret')],
    answers: ['not_found'],
  },
  {
    name: 'Expect: 100-continue',
    sends: write(goodBody, 'Expect: 100-continue'),
    answers: [100, 201],
  },
  {
    name: 'Expect: 100-continue of a body that is too large',
    sends: [head(`POST ${thing} HTTP/1.1`, host, 'Expect: 100-continue', 'Content-Length: 2000000')],
    halfCloses: true,
    answers: ['body_too_large'],
  },
  { name: 'Expect of something else', sends: write(goodBody, 'Expect: the-unexpected'), answers: [201] },
  { name: 'an empty Expect', sends: write(goodBody, 'Expect:'), answers: [201] },
  {
    name: 'a preflight of an allowed origin',
    sends: preflight(`Origin: ${allowedOrigin}`, 'Access-Control-Request-Method: POST'),
    answers: [200],
    headers: { 'access-control-allow-origin': allowedOrigin, vary: 'Origin' },
  },
  ...[
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
  ].map(
    (origin): HttpCase => ({
      name: `a preflight of ${origin.slice(0, 40)}`,
      sends: preflight(`Origin: ${origin}`, 'Access-Control-Request-Method: POST'),
      answers: [200],
      headers: { 'access-control-allow-origin': undefined, vary: 'Origin' },
    }),
  ),
  {
    name: 'a preflight that asks for a header that is none',
    sends: preflight(`Origin: ${allowedOrigin}`, 'Access-Control-Request-Headers: a, {"b":1}'),
    answers: [200],
    headers: { 'access-control-allow-headers': undefined },
  },
  {
    name: 'a preflight that asks for 2,000 headers',
    sends: preflight(`Origin: ${allowedOrigin}`, `Access-Control-Request-Headers: ${'a,'.repeat(2_000)}a`),
    answers: [200],
  },
  {
    name: 'a preflight that asks for headers with spaces without end',
    sends: preflight(`Origin: ${allowedOrigin}`, `Access-Control-Request-Headers: a${' '.repeat(15_000)}!`),
    answers: [200],
    headers: { 'access-control-allow-headers': undefined },
  },
  {
    name: 'a preflight for the local network',
    sends: preflight(`Origin: ${allowedOrigin}`, 'Access-Control-Request-Private-Network: true'),
    answers: [200],
    headers: {
      'access-control-allow-private-network': undefined,
      'access-control-allow-credentials': undefined,
    },
  },
  {
    name: 'a read from another origin',
    sends: get(`${thing}/resources`, 'Origin: https://other.example'),
    answers: [200],
    headers: { 'access-control-allow-origin': undefined },
  },
  {
    name: 'a device gets no headers of other origins',
    sends: get(`${thing}/resources`),
    answers: [200],
    headers: {
      'access-control-allow-origin': undefined,
      vary: undefined,
      'set-cookie': undefined,
      server: undefined,
    },
  },
]
