import { get, goodBody, type HttpCase, head, write } from '../case.ts'

const line = 'GET /v2/ HTTP/1.1'
const host = 'Host: a'

/** A header that is none, or one that is not allowed, among those of a request. */
const unreadable: Record<string, string> = {
  'with a space before its colon': 'X-A : b',
  'with a tab before its colon': 'X-A\t: b',
  'without a colon': 'X-A',
  'without a name': ': b',
  'with a space in its name': 'X A: b',
  'with a NUL in its name': 'X\0A: b',
  'with a NUL in its value': 'X-A: b\0c',
  'with a control character in its name': 'X\x01A: b',
  'with a control character in its value': 'X-A: b\x01c',
  'with a DEL in its value': 'X-A: b\x7fc',
  'with a CR in its value': 'X-A: b\rX-C: d',
  'with bytes above 127 in its name': 'X\xe9A: b',
  'with a bracket in its name': 'X[A]: b',
  'with a brace in its name': 'X{A}: b',
  'with a slash in its name': 'X/A: b',
  'with an @ in its name': 'X@A: b',
  'that is a fold of the request line': ' X-A: b',
}

/** What a header may be, and does not matter. */
const harmless: Record<string, string> = {
  'with bytes above 127 in its value': 'X-A: \xe9\xff',
  'with a value of spaces': 'X-A:      ',
  'without a value': 'X-A:',
  'without a space behind its colon': 'X-A:b',
  'with a quote that does not end': 'X-A: "b',
  'with JSON in its value': 'X-A: {"b":[',
  'named __proto__': '__proto__: polluted',
  'named constructor': 'constructor: polluted',
  'named hasOwnProperty': 'hasOwnProperty: polluted',
  'of 15,000 bytes': `X-A: ${'b'.repeat(15_000)}`,
  'that claims another method': 'X-HTTP-Method-Override: DELETE',
  'that claims another path': 'X-Original-URL: /v2/admin/things\r\nX-Rewrite-URL: /v2/admin/things',
  'that claims another client': 'X-Forwarded-For: 127.0.0.1\r\nX-Real-IP: ::1\r\nForwarded: for=127.0.0.1',
  'that claims ten thousand proxies': `X-Forwarded-For: ${'1.1.1.1,'.repeat(1_500)}`,
  'that claims a client that is no address': 'X-Forwarded-For: <script>, \', ";--',
  'that claims another server':
    'X-Forwarded-Host: other.example\r\nX-Forwarded-Proto: gopher\r\nX-Forwarded-Port: -1',
  'that asks for a connection of another kind': 'Connection: keep-alive, upgrade, x, __proto__',
  'that asks to keep the connection for ever': 'Keep-Alive: timeout=999999999, max=-1',
  'that is a cookie of 10,000 parts': `Cookie: ${'a;'.repeat(5_000)}`,
}

export const headers: readonly HttpCase[] = [
  ...Object.entries(unreadable).map(
    ([name, header]): HttpCase => ({
      name: `a header ${name} is refused`,
      sends: [name.startsWith('that is a fold') ? head(line, header, host) : head(line, host, header)],
      answers: ['bad_request'],
      closes: true,
    }),
  ),
  ...[`X-A: ${'b'.repeat(65_536)}`, `${'X'.repeat(65_536)}: b`].map(
    (header): HttpCase => ({
      name: `a header of 64 KiB that begins with ${header.slice(0, 5)} is too large`,
      sends: [head(line, host, header)],
      answers: ['head_too_large'],
      closes: true,
    }),
  ),
  ...Object.entries(harmless).map(
    ([name, header]): HttpCase => ({
      name: `a header ${name} is let through`,
      sends: [head(line, host, header)],
      answers: ['invalid_session'],
    }),
  ),
  {
    name: '2,000 short headers are let through',
    sends: [head(line, host, ...Array.from({ length: 2_000 }, () => 'a:b'))],
    answers: ['invalid_session'],
  },
  {
    name: '2,000 headers of 20 bytes are too many',
    sends: [
      head(
        line,
        host,
        ...Array.from({ length: 2_000 }, (_, place) => `x-${10_000 + place}: ${'b'.repeat(10)}`),
      ),
    ],
    answers: ['head_too_large'],
    closes: true,
  },
  {
    name: 'a folded header is refused',
    sends: [head(line, host, 'X-A: b', ' c')],
    answers: ['bad_request'],
    closes: true,
  },
  {
    name: 'a header line that ends with LF alone is refused',
    sends: [`${line}\r\n${host}\nX-A: b\r\n\r\n`],
    answers: ['bad_request'],
    closes: true,
  },
  {
    name: 'lines that end with LF alone are refused',
    sends: [`${line}\n${host}\n\n`],
    answers: ['bad_request'],
    closes: true,
  },
  {
    name: 'lines that end with CR alone are refused',
    sends: [`${line}\r${host}\r\r`],
    halfCloses: true,
    answers: ['bad_request'],
  },
  { name: 'no Host is let through', sends: [head(line)], answers: ['invalid_session'] },
  { name: 'two Hosts are let through', sends: [head(line, host, 'Host: b')], answers: ['invalid_session'] },
  {
    name: 'a Host that is a path is let through',
    sends: [head(line, 'Host: /etc/passwd')],
    answers: ['invalid_session'],
  },
  {
    name: 'a Host with control text is let through',
    sends: [head(line, 'Host: a\'"><script>@:99999999')],
    answers: ['invalid_session'],
  },
  {
    name: 'an Authorization without a credential is unknown',
    sends: get('/v2/admin/things', 'Authorization: Bearer '),
    answers: ['invalid_session'],
  },
  {
    name: 'an empty Authorization is none',
    sends: get('/v2/admin/things', 'Authorization:'),
    answers: ['missing_credential'],
  },
  {
    name: 'an Authorization of 10,000 characters is unknown',
    sends: get('/v2/admin/things', `Authorization: Bearer ${'k'.repeat(10_000)}`),
    answers: ['invalid_session'],
  },
  {
    name: 'an Authorization of another scheme is unknown',
    sends: get('/v2/admin/things', 'Authorization: Basic cm9vdDpyb290'),
    answers: ['invalid_session'],
  },
  {
    name: 'an Authorization with bytes above 127 is unknown',
    sends: get('/v2/admin/things', 'Authorization: Bearer \xff\xfe\xe9'),
    answers: ['invalid_session'],
  },
  {
    name: 'the admin key with one character more is unknown',
    sends: get('/v2/admin/things', 'Authorization: Bearer <admin-key>x'),
    answers: ['invalid_session'],
  },
  {
    name: 'the admin key twice in one header is unknown',
    sends: get('/v2/admin/things', 'Authorization: Bearer <admin-key>, Bearer <admin-key>'),
    answers: ['invalid_session'],
  },
  {
    name: 'of two Authorizations the first counts',
    sends: get('/v2/admin/things', 'Authorization: Bearer nobody', 'Authorization: Bearer <admin-key>'),
    answers: ['invalid_session'],
  },
  {
    name: 'a thing token opens no operator path',
    sends: get('/v2/admin/things', 'Authorization: Bearer <token>'),
    answers: ['forbidden'],
  },
  {
    name: 'a thing token in a cookie is no credential',
    sends: get('/v2/things/<id>/resources', 'Cookie: session=<token>; Authorization=<token>'),
    answers: ['missing_credential'],
  },
  {
    name: 'an Idempotency-Key of 65 characters is refused',
    sends: write(goodBody, `Idempotency-Key: ${'i'.repeat(65)}`),
    answers: ['invalid_write_id'],
  },
  {
    name: 'an Idempotency-Key with bytes above 127 is refused',
    sends: write(goodBody, 'Idempotency-Key: \xe9'),
    answers: ['invalid_write_id'],
  },
  {
    name: 'an empty Idempotency-Key is refused',
    sends: write(goodBody, 'Idempotency-Key:'),
    answers: ['invalid_write_id'],
  },
  {
    name: '64 Idempotency-Keys that differ are refused',
    sends: write(goodBody, ...Array.from({ length: 64 }, (_, n) => `Idempotency-Key: ${n}`)),
    answers: ['invalid_write_id'],
  },
]
