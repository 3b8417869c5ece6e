import { type Derived, inSource, replaced, unescapedLayers } from '../json/unescaped.ts'

const excerptCharacters = 200
const replacement = '[redacted]'

/** Length of an activation code, which is the shortest kind of secret; characters. */
const secretLength = 34
/**
 * Parts of a secret are redacted if they have at least this many characters. If fewer characters of a token are shown, about
 * 120 bits stay hidden. A lower limit would redact mixed-case names that are not secrets, such as short UUIDs of 22 characters.
 */
const revealing = 24
/** Number of characters searched beyond the shown part: enough for 24 characters of a secret, each escaped as up to 20. */
const lookAhead = 500

/** Characters that may split a secret: line breaks with indentation, NULs of UTF-16, zero-width characters. */
const joint = /(?:[\r\n\0\u00ad\u200b-\u200d\u2060\ufeff][ \t]*)+/g
const run = new RegExp(`[\\w-]+(?:${joint.source}[\\w-]+)*`, 'g')
/** UUIDs are not redacted: they are as long as a secret, but many write ids are UUIDs. */
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
/**
 * Matches texts made of words, such as `outsideTemperature-02` and `log-20261121T0930Z`, and by chance one in 25,000 token parts of
 * 24 characters. The lookaheads leave only one way to split a text: otherwise matching 40 letters could backtrack for ever.
 */
const words = /^(?:[A-Z]?[a-z]{2,}(?![a-z])|\d+(?!\d)(?:[TZ](?![a-z]))?|[-_])+$/

/** Part of a text; `end` is exclusive. */
type Span = readonly [start: number, end: number]

/**
 * Redacts credentials in texts from clients before the texts are stored, listed, logged or sent back (contract §1.1). Finds
 * credentials even if they are cut or escaped.
 *
 * The server only knows the hashes of tokens, so it redacts everything that looks like a token: any run of 34 or more characters
 * except a UUID, and any run of 24 or more unless it is in a single case (names, numbers, hashes) or made of words. A client that
 * hides a credential on purpose, for example in groups of four characters, succeeds.
 */
export class Redactor {
  /** All parts of the admin key that are `revealing` characters long. They are compared literally: the key may look like a name. */
  readonly #piecesOfKey: readonly string[]

  constructor(adminKey = '') {
    // If shorter parts were redacted, a thing could guess the key word by word from the redactions in its refused writes.
    this.#piecesOfKey = piecesOf(adminKey)
  }

  /** Redacts everything in a client's text that may be a credential. @param longest maximum length of the result, characters */
  redact(text: string, longest = Number.POSITIVE_INFINITY): string {
    const looked = text.slice(0, longest + lookAhead)
    const layers = unescapedLayers(looked)
    const spans = [
      ...layers.flatMap(layer => spansOfPieces(this.#piecesOfKey, layer)),
      ...spansOfSecrets(layers.at(-1) ?? layers[0]),
    ]
    return without(spans, looked, Math.min(longest, looked.length)).slice(0, longest)
  }

  /** The first 200 characters of a refused body, redacted. Invalid UTF-8 becomes U+FFFD. */
  excerpt(body: Uint8Array): string {
    const length = Math.min(body.byteLength, (excerptCharacters + lookAhead) * 4)
    const text = Buffer.from(body.buffer, body.byteOffset, length).toString('utf8')
    return this.redact(text, excerptCharacters)
  }
}

/** Redacts a known secret in a text, whether the secret is whole, cut or escaped. */
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

/** All parts of the key, and of its unescaped form, that are `revealing` characters long. */
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

/** Whether a text is in a single case or made of words. One in 130,000 token parts of 24 characters has a single case. */
function isName(text: string): boolean {
  return !/[a-z]/.test(text) || !/[A-Z]/.test(text) || words.test(text)
}

/** @param end index in `text` at which the shown part ends, exclusive */
function without(spans: readonly Span[], text: string, end: number): string {
  let shown = ''
  let done = 0
  for (const [from, to] of spans.toSorted(([one], [other]) => one - other)) {
    if (from >= end) break
    if (to <= done) continue
    // Overlapping spans get only one replacement.
    if (from >= done) shown += text.slice(done, from) + replacement
    done = to
  }
  return done < end ? shown + text.slice(done, end) : shown
}
