/** A text made from a source text by removing and replacing characters. */
export interface Derived {
  readonly text: string
  /** Where each character of `text` starts and ends in the source (end exclusive). Absent if `text` is the source itself. */
  readonly places?: { readonly starts: readonly number[]; readonly ends: readonly number[] }
}

/** Converts a range of `text` to the corresponding range of the source. Ends are exclusive; the range must not be empty. */
export function inSource({ places }: Derived, start: number, end: number): readonly [number, number] {
  return places ? [places.starts[start] ?? 0, places.ends[end - 1] ?? 0] : [start, end]
}

/** Maximum number of layers of escapes that are removed. Software does not escape a text more often than this by accident. */
const deepest = 8

/**
 * Matches one character as escaped in URLs (`%41`, `%u0041`), in JSON and programs (`\u0041`, `\x41`, `\n`, `\_`) or in HTML
 * (`&#65;`, `&#x41;`, `&amp;`, `&lowbar;`), or in full width, as Chinese and Japanese keyboards type it (`Ａ`).
 */
const escaped =
  /%u([\da-f]{4})|%([\da-f]{2})|\\u([\da-f]{4})|\\u\{([\da-f]{1,6})\}|\\x([\da-f]{2})|\\([nrt0])|\\([^a-z\d])|&#x([\da-f]{1,6});?|&#(\d{1,7});?|&(amp|lowbar);|([\uff01-\uff5e])/gi

const named: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0', amp: '&', lowbar: '_' }
const fullWidth = 0xfee0

/** The text itself, then the text with one, two and more layers of escapes removed. */
export function unescapedLayers(source: string): readonly [Derived, ...Derived[]] {
  const layers: [Derived, ...Derived[]] = [{ text: source }]
  let outer: Derived | undefined = layers[0]
  while (outer && layers.length <= deepest) {
    const inner = replaced(outer, escaped, meant)
    if (inner) layers.push(inner)
    outer = inner
  }
  return layers
}

/** Replaces each match of `pattern` with the result of `by`: one character or none. @returns undefined if there is no match */
export function replaced(
  outer: Derived,
  pattern: RegExp,
  by: (match: RegExpExecArray) => string,
): Derived | undefined {
  const { text } = outer
  const parts: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  let done = 0
  const keep = (part: string, start: number, end: number) => {
    parts.push(part)
    const [from, to] = inSource(outer, start, end)
    starts.push(from)
    ends.push(to)
  }
  const keepUntil = (end: number) => {
    for (let place = done; place < end; place++) keep(text[place] ?? '', place, place + 1)
  }
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length
    keepUntil(match.index)
    const character = by(match)
    if (character !== '') keep(character, match.index, end)
    done = end
  }
  if (done === 0) return undefined
  keepUntil(text.length)
  return { text: parts.join(''), places: { starts, ends } }
}

/** Unescapes a match to one UTF-16 unit, as `places` requires. Credentials are ASCII, so any other character becomes U+FFFD. */
function meant([, ...groups]: RegExpExecArray): string {
  const [url4, url2, json4, json6, byte, control, itself, html16, html10, entity, wide] = groups
  const letter = control ?? entity
  if (letter !== undefined) return named[letter.toLowerCase()] ?? '\ufffd'
  if (itself !== undefined) return itself
  if (wide !== undefined) return String.fromCharCode(wide.charCodeAt(0) - fullWidth)
  const hex = url4 ?? url2 ?? json4 ?? json6 ?? byte ?? html16
  const code = hex === undefined ? Number(html10) : Number.parseInt(hex, 16)
  if (code < 0x80) return String.fromCharCode(code)
  return code > 0xff00 && code < 0xff5f ? String.fromCharCode(code - fullWidth) : '\ufffd'
}
