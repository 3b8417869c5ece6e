import { type Derived, inSource, replaced, unescapedLayers } from '../json/unescaped.ts'

const excerptCharacters = 200
const replacement = '[redacted]'

/** As long as an activation code, the shortest secret. */
const secretLength = 34
/**
 * So many characters of a secret that was cut are redacted. Of a token that shows fewer, 120 bits stay hidden. Other names
 * of mixed case, such as short UUIDs, have up to 22.
 */
const revealing = 24
/** Characters behind what is shown that are looked at: 24 of a secret, each spelled with up to 20. */
const lookAhead = 500

/** What does not end a secret: line breaks with what indents the next line, NULs of UTF-16, characters without a width. */
const joint = /(?:[\r\n\0\u00ad\u200b-\u200d\u2060\ufeff][ \t]*)+/g
const run = new RegExp(`[\\w-]+(?:${joint.source}[\\w-]+)*`, 'g')
/** What write ids often are is as long as a secret, and none. */
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
/**
 * `outsideTemperature-02`, `log-20261121T0930Z`: of 24 random characters of a token, one in 25,000. A text can be read as words in one
 * way alone: each takes all that it can. Otherwise 40 letters that end unlike a word would be tried in more ways than there is time for.
 */
const words = /^(?:[A-Z]?[a-z]{2,}(?![a-z])|\d+(?!\d)(?:[TZ](?![a-z]))?|[-_])+$/

/** Part of a text, from a place to the one behind it. */
type Span = readonly [start: number, end: number]

/**
 * Keeps credentials out of what is kept, listed, logged or sent back of a client's text (contract §1.1), in whatever spelling
 * software gave them on the way: unescaped, whole or cut.
 *
 * Tokens are known by their hashes alone. So what looks like one is redacted: 34 characters or more that are no UUID, and
 * from 24 on what is neither of one case (names, numbers, hashes) nor of words. Who hides a credential of his own on purpose,
 * such as in groups of four characters, will succeed.
 */
export class Redactor {
  /** Every piece of the admin key that is long enough: it may be spelled like a name, or unlike any token. */
  readonly #piecesOfKey: readonly string[]

  constructor(adminKey = '') {
    // Shorter pieces would let a thing find the key out, word by word, from what is redacted of its refused writes.
    this.#piecesOfKey = piecesOf(adminKey)
  }

  /**
   * A client's text with everything redacted in it that could be a credential.
   *
   * @param longest how many characters of it are shown at most
   */
  redact(text: string, longest = Number.POSITIVE_INFINITY): string {
    const looked = text.slice(0, longest + lookAhead)
    const layers = unescapedLayers(looked)
    const spans = [
      ...layers.flatMap(layer => spansOfPieces(this.#piecesOfKey, layer)),
      ...spansOfSecrets(layers.at(-1) ?? layers[0]),
    ]
    return without(spans, looked, Math.min(longest, looked.length)).slice(0, longest)
  }

  /** What is shown of a refused body: its first 200 characters, redacted. Bytes that are not UTF-8 appear as U+FFFD. */
  excerpt(body: Uint8Array): string {
    const length = Math.min(body.byteLength, (excerptCharacters + lookAhead) * 4)
    const text = Buffer.from(body.buffer, body.byteOffset, length).toString('utf8')
    return this.redact(text, excerptCharacters)
  }
}

/** A text with a secret redacted in it that is known, whole or cut, in whatever spelling. */
export function strikeOut(secret: string, text: string): string {
  const pieces = piecesOf(secret)
  const spans = unescapedLayers(text).flatMap(layer => spansOfPieces(pieces, layer))
  return spans.length === 0 ? text : without(spans, text, text.length)
}

function spansOfPieces(pieces: readonly string[], layer: Derived): readonly Span[] {
  const joined = replaced(layer, joint, () => '') ?? layer
  return pieces.flatMap(piece =>
    placesOf(piece, joined.text).map(place => inSource(joined, place, place + revealing)),
  )
}

/** As it is, and as it reads where it looks escaped itself. */
function piecesOf(key: string): readonly string[] {
  const pieces = [key, unescapedLayers(key).at(-1)?.text ?? ''].flatMap(text => {
    const count = Math.max(0, text.length - revealing + 1)
    return Array.from({ length: count }, (_, place) => text.slice(place, place + revealing))
  })
  return [...new Set(pieces)]
}

function placesOf(piece: string, text: string): readonly number[] {
  const places: number[] = []
  for (let place = text.indexOf(piece); place !== -1; place = text.indexOf(piece, place + 1))
    places.push(place)
  return places
}

function spansOfSecrets(layer: Derived): readonly Span[] {
  return [...layer.text.matchAll(run)]
    .filter(([found]) => isLikeSecret(found))
    .map(({ index, 0: found }) => inSource(layer, index, index + found.length))
}

function isLikeSecret(text: string): boolean {
  const pieces = text.split(joint)
  const joined = pieces.join('')
  if (joined.length < revealing || uuid.test(joined)) return false
  return !isName(joined) || pieces.some(piece => piece.length >= secretLength && !uuid.test(piece))
}

/** Of one case, which 24 random characters of a token are once in 130,000 times, or of words. */
function isName(text: string): boolean {
  return !/[a-z]/.test(text) || !/[A-Z]/.test(text) || words.test(text)
}

/** @param end place in `text` behind what is shown of it */
function without(spans: readonly Span[], text: string, end: number): string {
  let shown = ''
  let done = 0
  for (const [from, to] of spans.toSorted(([one], [other]) => one - other)) {
    if (from >= end) break
    if (to <= done) continue
    // Those that overlap are one.
    if (from >= done) shown += text.slice(done, from) + replacement
    done = to
  }
  return done < end ? shown + text.slice(done, end) : shown
}
