import { get, goodBody, type HttpCase, head, write } from '../case.ts'

/** A request that must never get an answer of its own: it is part of another. */
const hidden = head('GET /v2/things/<other-token>/resources/smuggled HTTP/1.1', 'Host: a')
const line = 'POST /v2/things/<token> HTTP/1.1'
const host = 'Host: a'
const chunked = 'Transfer-Encoding: chunked'
/** Of `hidden` once its placeholder is filled in. */
const hiddenLength = hidden.length - '<other-token>'.length + 43

/** Two lengths, of which the one that a proxy might go by hides a request. */
const pairs: Record<string, readonly string[]> = {
  'behind a length that is shorter than the chunks': [
    head(line, host, 'Content-Length: 4', chunked),
    `5c\r\n${hidden}`,
  ],
  'behind the last chunk': [
    head(line, host, `Content-Length: ${5 + hiddenLength}`, chunked),
    `0\r\n\r\n${hidden}`,
  ],
  'behind a Transfer-Encoding with a space before its colon': [
    head(line, host, `Content-Length: ${5 + hiddenLength}`, 'Transfer-Encoding : chunked'),
    `0\r\n\r\n${hidden}`,
  ],
  'behind a Transfer-Encoding of two codings': [
    head(line, host, `Content-Length: ${5 + hiddenLength}`, 'Transfer-Encoding: chunked, cow'),
    `0\r\n\r\n${hidden}`,
  ],
  'behind two Transfer-Encodings': [
    head(line, host, `Content-Length: ${5 + hiddenLength}`, chunked, 'Transfer-Encoding: cow'),
    `0\r\n\r\n${hidden}`,
  ],
  'behind two Transfer-Encodings without a length': [
    head(line, host, chunked, 'Transfer-encoding: identity'),
    `0\r\n\r\n${hidden}`,
  ],
  'behind a tab in Transfer-Encoding': [
    head(line, host, `Content-Length: ${5 + hiddenLength}`, 'Transfer-Encoding:\tchunked'),
    `0\r\n\r\n${hidden}`,
  ],
  'behind a Transfer-Encoding after a LF': [
    head(line, host, 'X: a\nTransfer-Encoding: chunked', 'Content-Length: 6'),
    `0\r\n\r\n${hidden}`,
  ],
  'behind a Transfer-Encoding after a CR': [
    head(line, host, 'X: a\rTransfer-Encoding: chunked', 'Content-Length: 6'),
    `0\r\n\r\n${hidden}`,
  ],
  'behind two lengths': [head(line, host, `Content-Length: ${hiddenLength}`, 'Content-Length: 0'), hidden],
  'behind a list of lengths': [head(line, host, `Content-Length: 0, ${hiddenLength}`), hidden],
  'behind a length with a sign': [head(line, host, 'Content-Length: +0'), hidden],
  'behind a length with a NUL': [head(line, host, `Content-Length: 0\0${hiddenLength}`), hidden],
  'in a chunk extension behind a LF': [head(line, host, chunked), `1;\n${hidden}\r\n \r\n0\r\n\r\n`],
  'behind a chunk size that ends with CR alone': [head(line, host, chunked), `1\rx\r\n0\r\n\r\n${hidden}`],
  'behind a chunk with too much data': [head(line, host, chunked), `1\r\n{}\r\n0\r\n\r\n${hidden}`],
  'behind a chunk size that overflows': [
    head(line, host, chunked),
    `10000000000000000\r\n0\r\n\r\n${hidden}`,
  ],
  'behind a header that a LF begins': [
    head(line, host, 'Content-Length: 0', 'X: a\n\nGET / HTTP/1.1'),
    hidden,
  ],
  'behind a folded length': [head(line, host, 'Content-Length:', ` ${hiddenLength}`), hidden],
}

export const smuggling: readonly HttpCase[] = [
  ...Object.entries(pairs).map(
    ([name, sends]): HttpCase => ({
      name: `a request ${name} is not answered`,
      sends,
      answers: ['bad_request'],
      closes: true,
    }),
  ),
  {
    name: 'the body of a GET is not taken for a request',
    sends: [head('GET /v2/ HTTP/1.1', host, `Content-Length: ${hiddenLength}`), hidden],
    answers: ['invalid_body'],
  },
  {
    name: 'the body of a probe is not taken for a request',
    sends: [head('GET /healthz HTTP/1.1', host, `Content-Length: ${hiddenLength}`), hidden],
    answers: [200],
  },
  {
    name: 'the body at an unknown path is not taken for a request',
    sends: [head('POST /nowhere HTTP/1.1', host, `Content-Length: ${hiddenLength}`), hidden],
    answers: ['not_found'],
  },
  {
    name: 'the chunks at an unknown path are not taken for a request',
    sends: [
      head('POST /nowhere HTTP/1.1', host, chunked),
      `${hiddenLength.toString(16)}\r\n`,
      hidden,
      '\r\n0\r\n\r\n',
    ],
    answers: ['not_found'],
  },
  {
    name: 'the body of a method that is not known there is not taken for a request',
    sends: [head('DELETE /v2/things/<token> HTTP/1.1', host, `Content-Length: ${hiddenLength}`), hidden],
    answers: ['method_not_allowed'],
  },
  {
    name: 'the body of a preflight is not taken for a request',
    sends: [head('OPTIONS /v2/things/<token> HTTP/1.1', host, `Content-Length: ${hiddenLength}`), hidden],
    answers: [200],
  },
  {
    name: 'the body of a refused write is not taken for a request',
    sends: [
      head(`POST /v2/things/${'t'.repeat(43)} HTTP/1.1`, host, `Content-Length: ${hiddenLength}`),
      hidden,
    ],
    answers: ['unknown_thing_token'],
  },
  {
    name: 'the body of an upgrade to another protocol is not taken for a request',
    sends: [
      head(line, host, 'Connection: Upgrade', 'Upgrade: h2c', `Content-Length: ${hiddenLength}`),
      hidden,
    ],
    answers: ['invalid_json'],
  },
  {
    name: 'a request that waits for an expectation of nobody is not taken for two',
    sends: [head(line, host, 'Expect: nothing', `Content-Length: ${hiddenLength}`), hidden],
    answers: ['invalid_json'],
  },
  {
    name: 'two requests in one go are two',
    sends: [...write(goodBody), ...write(goodBody)],
    answers: [201, 201],
  },
  {
    name: 'a hundred requests in one go are a hundred',
    sends: Array.from({ length: 100 }, () => get('/v2/')).flat(),
    answers: Array.from({ length: 100 }, () => 'invalid_session' as const),
  },
  {
    name: 'a good request in front of a bad one is answered',
    sends: [...write(goodBody), 'GET /v2/ HTTP/9.9\r\n\r\n'],
    answers: [201],
    closes: true,
  },
  {
    name: 'a request behind one that closes is not answered',
    sends: [...write(goodBody, 'Connection: close'), ...get('/v2/')],
    answers: [201],
    closes: true,
  },
]
