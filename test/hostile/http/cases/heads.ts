import { type Answered, answered, each, get, goodBody, type HttpCase, head, rows, write } from '../case.ts'

const host = 'Host: a'

/** Lines that are no request line of HTTP/1.1, or one that nobody sends. */
const unreadableLines = {
  'without a method': ' /v2/ HTTP/1.1',
  'without a path': 'GET HTTP/1.1',
  'with a method alone': 'GET',
  'of HTTP/1.2': 'GET /v2/ HTTP/1.2',
  'of HTTP/1.10': 'GET /v2/ HTTP/1.10',
  'of HTTP/3': 'GET /v2/ HTTP/3',
  'of HTTP/-1.1': 'GET /v2/ HTTP/-1.1',
  'of http/1.1 in lower case': 'GET /v2/ http/1.1',
  'of HTTP with a space': 'GET /v2/ HTTP/ 1.1',
  'of another protocol': 'GET /v2/ ICE/1.0',
  'with words behind the version': 'GET /v2/ HTTP/1.1 and more',
  'with a tab behind the method': 'GET\t/v2/ HTTP/1.1',
  'with a space in the path': 'GET /v2/ things HTTP/1.1',
  'with a tab in the path': 'GET /v2/\tthings HTTP/1.1',
  'with a NUL in the path': 'GET /v2/\0 HTTP/1.1',
  'with a NUL in the method': 'G\0ET /v2/ HTTP/1.1',
  'with a NUL in the version': 'GET /v2/ HTTP/1.1\0',
  'with a control character in the path': 'GET /v2/\x01 HTTP/1.1',
  'with a DEL in the path': 'GET /v2/\x7f HTTP/1.1',
  'with an escape sequence in the path': 'GET /v2/\x1b[2J HTTP/1.1',
  'with a CR in the path': 'GET /v2/\rx HTTP/1.1',
  'with a LF in the path': 'GET /v2/\nx HTTP/1.1',
  'with the authority form': 'GET a:80 HTTP/1.1',
  'with a path that has no slash': 'GET v2/things HTTP/1.1',
  'with a bare word as path': 'GET thing HTTP/1.1',
  'with a method of bytes above 127': '\xc3\xa9 /v2/ HTTP/1.1',
  'with a method of 64 KiB': `${'G'.repeat(65_536)} /v2/ HTTP/1.1`,
  'that is a quoted string': '"GET /v2/ HTTP/1.1"',
  'that is the preface of HTTP/2': 'PRI * HTTP/2.0',
  'that is SIP': 'REGISTER sip:a SIP/2.0',
  'that is a line of SMTP': 'EHLO a',
  'that is a command of Redis': '*1\r\n$4\r\nPING',
  'that is a header of the PROXY protocol': 'PROXY TCP4 192.0.2.1 192.0.2.2 4000 80\r\nGET /v2/ HTTP/1.1',
  'that is an answer': 'HTTP/1.1 200 OK',
} as const

/** Bytes of other protocols, sent to the HTTP port. */
const foreign: Record<string, readonly number[] | string> = {
  'a CONNECT of MQTT': '\x10\x10\0\x04MQTT\x04\x02\0\x3c\0\x04nose',
  'a ClientHello of TLS': [0x16, 3, 1, 0, 4, 1, 0, 0, 0, 0x0d, 0x0a, 0x0d, 0x0a],
  'a greeting of SOCKS 5': [5, 1, 0, 0x0d, 0x0a, 0x0d, 0x0a],
  'a header of the PROXY protocol, version 2': '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c',
  'a greeting of SSH': 'SSH-2.0-OpenSSH_9.6\r\n\r\n',
  'nothing but NUL': [0, 0, 0, 0],
  'nothing but 0xff': [0xff, 0xff, 0xff, 0xff],
  'the beginning of a gzip': [0x1f, 0x8b, 8, 0, 0, 0, 0, 0],
  'a byte order mark': '\xef\xbb\xbfGET /v2/ HTTP/1.1\r\n\r\n',
  'a body of JSON without a head': '{"values":[{"key":"hostile","value":1}]}',
}

/** What is unusual, and served all the same. */
const served: readonly HttpCase[] = [
  ...rows('open', {
    'a request line behind empty lines is served': [['\r\n\r\n', ...get('/v2/')], 'invalid_session'],
    'two spaces behind the method are served': [head('GET  /v2/ HTTP/1.1', host), 'invalid_session'],
    '64 KiB of spaces behind the method are served': [
      head(`GET ${' '.repeat(65_536)}/v2/ HTTP/1.1`, host),
      'invalid_session',
    ],
    'the absolute form is served': [get('http://a/v2/'), 'invalid_session'],
    'the absolute form with another server is served': [
      get('http://other.example:81/v2/things/<token>/resources/hostile-not-there'),
      'unknown_resource',
    ],
    'the absolute form with a password is served': [get('http://root:secret@a/v2/'), 'invalid_session'],
    'an absolute form of another scheme leads nowhere': [get('file:///etc/passwd'), 'not_found'],
    'an absolute form without a path is the dashboard': [get('http://a'), 200],
    'a GET of * is taken for one of the root': [get('*'), 200],
    'an OPTIONS of * leads nowhere': [head('OPTIONS * HTTP/1.1', host), 'not_found'],
    'a path of 15,000 characters leads nowhere': [get(`/${'p'.repeat(15_000)}`), 'not_found'],
  }),
  ...rows('closed', {
    'HTTP/1.0 is served': [head('GET /v2/ HTTP/1.0'), 'invalid_session'],
    'no version is HTTP/0.9': [head('GET /v2/', host), 'invalid_session'],
    'HTTP/2.0 in the form of HTTP/1 is served': [head('GET /v2/ HTTP/2.0', host), 'invalid_session'],
    'RTSP leads nowhere': [head('OPTIONS rtsp://a/v2/ RTSP/1.0', host), 'not_found'],
  }),
]

export const requestLines: readonly HttpCase[] = [
  ...each('closed', 'a request line *', unreadableLines, line => [head(line, host), 'bad_request']),
  ...each('closed', 'a request line with 64 KiB behind *', ['/', '/v2/?'], path => [
    head(`GET ${path}${'p'.repeat(65_536)} HTTP/1.1`, host),
    'head_too_large',
  ]),
  ...each('closed', '*', foreign, bytes => [
    typeof bytes === 'string' ? bytes : Uint8Array.from(bytes),
    'bad_request',
  ]),
  ...served,
  ...rows('closed', {
    'a CONNECT is not served': [head('CONNECT a:443 HTTP/1.1', host), []],
  }),
  ...rows('half-closed', {
    'a request line that breaks off': ['GET /v2/', 'bad_request'],
    'a head that breaks off': ['GET /v2/ HTTP/1.1\r\nHost: a\r\nX', 'bad_request'],
    'an end without a byte': [[], []],
    'empty lines and an end': ['\r\n\r\n\r\n', []],
  }),
]

const line = 'GET /v2/ HTTP/1.1'

/** A header that is none, or one that is not allowed, among those of a request. */
const unreadableHeaders: Record<string, string> = {
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

const largeHeaders = {
  'in its value': `X-A: ${'b'.repeat(65_536)}`,
  'in its name': `${'X'.repeat(65_536)}: b`,
}

/** What an operator path makes of what comes behind `Authorization:`, of which `|` begins another one. */
const authorizations: Answered<string> = {
  invalid_session: {
    'without a credential': ' Bearer ',
    'of 10,000 characters': ` Bearer ${'k'.repeat(10_000)}`,
    'of another scheme': ' Basic cm9vdDpyb290',
    'with bytes above 127': ' Bearer \xff\xfe\xe9',
    'of the admin key with one character more': ' Bearer <admin-key>x',
    'of the admin key twice': ' Bearer <admin-key>, Bearer <admin-key>',
    'in front of another one counts': ' Bearer nobody| Bearer <admin-key>',
  },
  missing_credential: { 'that is empty': '' },
  forbidden: { 'of a thing token': ' Bearer <token>' },
}

export const headers: readonly HttpCase[] = [
  ...each('closed', 'a header * is refused', unreadableHeaders, header => [
    head(line, host, header),
    'bad_request',
  ]),
  ...each('closed', 'a header of 64 KiB * is too large', largeHeaders, header => [
    head(line, host, header),
    'head_too_large',
  ]),
  ...each('open', 'a header * is let through', harmless, header => [
    head(line, host, header),
    'invalid_session',
  ]),
  ...answered('an Authorization *', authorizations, value =>
    get('/v2/admin/things', `Authorization:${value.replaceAll('|', '\r\nAuthorization:')}`),
  ),
  ...rows('open', {
    '2,000 short headers are let through': [
      head(line, host, ...Array.from({ length: 2_000 }, () => 'a:b')),
      'invalid_session',
    ],
    'no Host is let through': [head(line), 'invalid_session'],
    'two Hosts are let through': [head(line, host, 'Host: b'), 'invalid_session'],
    'a Host that is a path is let through': [head(line, 'Host: /etc/passwd'), 'invalid_session'],
    'a Host with control text is let through': [
      head(line, 'Host: a\'"><script>@:99999999'),
      'invalid_session',
    ],
    'a thing token in a cookie is no credential': [
      get('/v2/things/<id>/resources', 'Cookie: session=<token>; Authorization=<token>'),
      'missing_credential',
    ],
    'an Idempotency-Key of 65 characters is refused': [
      write(goodBody, `Idempotency-Key: ${'i'.repeat(65)}`),
      'invalid_write_id',
    ],
    'an Idempotency-Key with bytes above 127 is refused': [
      write(goodBody, 'Idempotency-Key: \xe9'),
      'invalid_write_id',
    ],
    'an empty Idempotency-Key is refused': [write(goodBody, 'Idempotency-Key:'), 'invalid_write_id'],
    '64 Idempotency-Keys that differ are refused': [
      write(goodBody, ...Array.from({ length: 64 }, (_, n) => `Idempotency-Key: ${n}`)),
      'invalid_write_id',
    ],
  }),
  ...rows('closed', {
    '2,000 headers of 20 bytes are too many': [
      head(
        line,
        host,
        ...Array.from({ length: 2_000 }, (_, place) => `x-${10_000 + place}: ${'b'.repeat(10)}`),
      ),
      'head_too_large',
    ],
    'a header that is a fold of the request line is refused': [head(line, ' X-A: b', host), 'bad_request'],
    'a folded header is refused': [head(line, host, 'X-A: b', ' c'), 'bad_request'],
    'a header line that ends with LF alone is refused': [`${line}\r\n${host}\nX-A: b\r\n\r\n`, 'bad_request'],
    'lines that end with LF alone are refused': [`${line}\n${host}\n\n`, 'bad_request'],
  }),
  ...rows('half-closed', {
    'lines that end with CR alone are refused': [`${line}\r${host}\r\r`, 'bad_request'],
  }),
]
