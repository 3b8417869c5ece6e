import { get, type HttpCase, head } from '../case.ts'

const host = 'Host: a'

/** Lines that are no request line of HTTP/1.1, or one that nobody sends. */
const unreadable = {
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
  {
    name: 'a request line behind empty lines is served',
    sends: ['\r\n\r\n', ...get('/v2/')],
    answers: ['invalid_session'],
  },
  {
    name: 'two spaces behind the method are served',
    sends: [head('GET  /v2/ HTTP/1.1', host)],
    answers: ['invalid_session'],
  },
  {
    name: 'HTTP/1.0 is served',
    sends: [head('GET /v2/ HTTP/1.0')],
    answers: ['invalid_session'],
    closes: true,
  },
  {
    name: 'no version is HTTP/0.9',
    sends: [head('GET /v2/', host)],
    answers: ['invalid_session'],
    closes: true,
  },
  {
    name: 'HTTP/2.0 in the form of HTTP/1 is served',
    sends: [head('GET /v2/ HTTP/2.0', host)],
    answers: ['invalid_session'],
    closes: true,
  },
  {
    name: 'RTSP leads nowhere',
    sends: [head('OPTIONS rtsp://a/v2/ RTSP/1.0', host)],
    answers: ['not_found'],
    closes: true,
  },
  {
    name: '64 KiB of spaces behind the method are served',
    sends: [head(`GET ${' '.repeat(65_536)}/v2/ HTTP/1.1`, host)],
    answers: ['invalid_session'],
  },
  { name: 'the absolute form is served', sends: get('http://a/v2/'), answers: ['invalid_session'] },
  {
    name: 'the absolute form with another server is served',
    sends: get('http://other.example:81/v2/things/<token>/resources/hostile-not-there'),
    answers: ['unknown_resource'],
  },
  {
    name: 'the absolute form with a password is served',
    sends: get('http://root:secret@a/v2/'),
    answers: ['invalid_session'],
  },
  {
    name: 'an absolute form of another scheme leads nowhere',
    sends: get('file:///etc/passwd'),
    answers: ['not_found'],
  },
  { name: 'an absolute form without a path is the dashboard', sends: get('http://a'), answers: [200] },
  { name: 'a GET of * is taken for one of the root', sends: get('*'), answers: [200] },
  {
    name: 'an OPTIONS of * leads nowhere',
    sends: [head('OPTIONS * HTTP/1.1', host)],
    answers: ['not_found'],
  },
  {
    name: 'a path of 15,000 characters leads nowhere',
    sends: get(`/${'p'.repeat(15_000)}`),
    answers: ['not_found'],
  },
]

export const requestLines: readonly HttpCase[] = [
  ...Object.entries(unreadable).map(
    ([name, line]): HttpCase => ({
      name: `a request line ${name}`,
      sends: [head(line, host)],
      answers: ['bad_request'],
      closes: true,
    }),
  ),
  ...['/', '/v2/?'].map(
    (path): HttpCase => ({
      name: `a request line with 64 KiB behind ${path}`,
      sends: [head(`GET ${path}${'p'.repeat(65_536)} HTTP/1.1`, host)],
      answers: ['head_too_large'],
      closes: true,
    }),
  ),
  ...Object.entries(foreign).map(
    ([name, bytes]): HttpCase => ({
      name,
      sends: [typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)],
      answers: ['bad_request'],
      closes: true,
    }),
  ),
  ...served,
  {
    name: 'a CONNECT is not served',
    sends: [head('CONNECT a:443 HTTP/1.1', host)],
    answers: [],
    closes: true,
  },
  { name: 'a request line that breaks off', sends: ['GET /v2/'], halfCloses: true, answers: ['bad_request'] },
  {
    name: 'a head that breaks off',
    sends: ['GET /v2/ HTTP/1.1\r\nHost: a\r\nX'],
    halfCloses: true,
    answers: ['bad_request'],
  },
  { name: 'an end without a byte', sends: [], halfCloses: true, answers: [] },
  { name: 'empty lines and an end', sends: ['\r\n\r\n\r\n'], halfCloses: true, answers: [] },
]
