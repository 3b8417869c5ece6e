interface JsonMistake {
  /** Index in UTF-16 code units. */
  readonly position: number
  /** For people: the text at the position, the expected text, and a remedy. */
  readonly message: string
}

/** What the next token must be. */
type Wanted =
  | 'a value'
  | 'a value or ]'
  | 'a name in double quotes'
  | 'a name in double quotes or }'
  | ':'
  | ', or }'
  | ', or ]'
  | 'the end'

const space = /[ \t\n\r]*/y
const word = /[\w.+-]+/y
const literal = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/
const escapeSequence = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y
const knownWord =
  /^(?:[\d.e+-]{1,12}|[+-]?0x[\da-f]{1,8}|true|false|none|null|nil|undefined|nullptr|[+-]?(?:nan|inf|infinity|ovf))$/i

/** The first place at which a text breaks the grammar of RFC 8259; undefined if the text is valid JSON. */
export function findJsonMistake(text: string): JsonMistake | undefined {
  return new Scan(text).mistake()
}

/** Scans a text token by token. Uses no recursion, since deeply nested JSON would overflow the stack. */
class Scan {
  readonly #text: string
  #at = 0
  #wanted: Wanted = 'a value'
  /** The closing brackets that are still missing, outermost first. */
  readonly #closers: ('}' | ']')[] = []

  constructor(text: string) {
    this.#text = text
  }

  mistake(): JsonMistake | undefined {
    for (;;) {
      // A match of nothing takes longer than the token that follows.
      if (this.#text.charCodeAt(this.#at) <= 0x20) this.#match(space)
      const isAtEnd = this.#at === this.#text.length
      if (isAtEnd && this.#wanted === 'the end') return undefined
      const mistake = isAtEnd ? this.#endsHere(`where ${this.#wanted} is expected`) : this.#take()
      if (mistake) return mistake
    }
  }

  /** Consumes the next token, or returns the mistake. */
  #take(): JsonMistake | undefined {
    const character = this.#text.charAt(this.#at)
    const isCloser = character === '}' || character === ']'
    if (isCloser && character === this.#closers.at(-1) && this.#wanted.endsWith(character)) {
      this.#closers.pop()
      return this.#pass(this.#behindValue())
    }
    switch (this.#wanted) {
      case 'a value':
      case 'a value or ]':
        return this.#takeValue(character)
      case 'a name in double quotes':
      case 'a name in double quotes or }':
        return character === '"' ? this.#takeString(':') : this.#wrong()
      case ':':
        return character === ':' ? this.#pass('a value') : this.#wrong()
      case ', or }':
        return character === ',' ? this.#pass('a name in double quotes') : this.#wrong()
      case ', or ]':
        return character === ',' ? this.#pass('a value') : this.#wrong()
      default:
        return this.#wrong()
    }
  }

  #takeValue(character: string): JsonMistake | undefined {
    if (character === '{') return this.#open('}', 'a name in double quotes or }')
    if (character === '[') return this.#open(']', 'a value or ]')
    if (character === '"') return this.#takeString(this.#behindValue())
    const start = this.#at
    const found = this.#match(word)
    if (literal.test(found)) {
      this.#wanted = this.#behindValue()
      return undefined
    }
    this.#at = start
    // The text may end within a literal.
    const isCut = start + found.length === this.#text.length && this.#closers.length > 0 && found !== ''
    return isCut && isBeginning(found) ? this.#endsInside('a value') : this.#wrong()
  }

  /** @param wanted the token that must follow the string */
  #takeString(wanted: Wanted): JsonMistake | undefined {
    const text = this.#text
    for (let at = this.#at + 1; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 0x22) {
        this.#at = at
        return this.#pass(wanted)
      }
      if (code < 0x20) return this.#wrongInString(at, 'must be escaped in a string')
      if (code !== 0x5c) continue
      escapeSequence.lastIndex = at
      const length = escapeSequence.exec(text)?.[0].length
      if (length !== undefined) at += length - 1
      else if (/^\\(?:u[\dA-Fa-f]{0,3})?$/.test(text.slice(at, at + 7))) break
      else
        return this.#wrongInString(
          at,
          String.raw`does not begin any of the escapes \" \\ \/ \b \f \n \r \t \u0000`,
        )
    }
    return this.#endsInside('a string')
  }

  #open(closer: '}' | ']', wanted: Wanted): undefined {
    this.#closers.push(closer)
    return this.#pass(wanted)
  }

  /** Consumes one character. */
  #pass(wanted: Wanted): undefined {
    this.#at++
    this.#wanted = wanted
    return undefined
  }

  #behindValue(): Wanted {
    const closer = this.#closers.at(-1)
    if (closer === undefined) return 'the end'
    return closer === '}' ? ', or }' : ', or ]'
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #wrong(): JsonMistake {
    const position = this.#at
    const found = this.#match(word) || this.#characterAt(position)
    const stranger = { found, wanted: this.#wanted, before: this.#text.slice(0, position).slice(-40) }
    const hint = hints.find(([fits]) => fits(stranger))?.[1]
    const place = `found ${shown(found)} at position ${position} where ${this.#wanted} is expected`
    return { position, message: hint === undefined ? place : `${place}: ${hint}` }
  }

  #wrongInString(position: number, problem: string): JsonMistake {
    return { position, message: `at position ${position} ${shown(this.#characterAt(position))} ${problem}` }
  }

  #endsInside(what: string): JsonMistake {
    return this.#endsHere(`inside ${what}`)
  }

  #endsHere(place: string): JsonMistake {
    const position = this.#text.length
    const advice = this.#text.trim() === '' ? '' : ': was it cut off by a buffer that is too small?'
    return { position, message: `it ends at position ${position}, ${place}${advice}` }
  }

  #characterAt(position: number): string {
    return String.fromCodePoint(this.#text.codePointAt(position) ?? 0)
  }
}

/** Whether the text is a prefix of `true`, `false`, `null` or a number. */
function isBeginning(text: string): boolean {
  const isOfWord = ['true', 'false', 'null'].some(each => each.startsWith(text))
  return isOfWord || literal.test(`${text}0`)
}

/** How a message shows a token. A body may contain secrets, so only known words, short numbers and single characters are quoted. */
function shown(text: string): string {
  if (/^[\p{Cc}\p{Cf}\p{Cs}\p{Zs}]$/u.test(text))
    return `U+${text.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
  return /^[\w.+-]/.test(text) && !knownWord.test(text) ? 'a word' : text
}

interface Stranger {
  /** The unexpected token. */
  readonly found: string
  /** The expected token, in words. */
  readonly wanted: string
  /** Up to 40 characters of text before the unexpected token. */
  readonly before: string
}

/** Remedies for typical mistakes. The first row that fits is used. */
const hints: readonly (readonly [fits: (stranger: Stranger) => boolean, hint: string])[] = [
  [({ found }) => found === '\0', 'send no zero byte, such as the one that ends a string in C'],
  [({ found }) => /^['‘’“”„«»`]$/u.test(found), 'JSON has straight double quotes'],
  [({ found }) => /^[/#]$/.test(found), 'JSON has no comments'],
  [({ found, before }) => /^[\]}]$/.test(found) && /,\s*$/.test(before), 'remove the comma before it'],
  [
    ({ found, wanted, before }) => /^\d/.test(found) && wanted !== 'the end' && /\d,$/.test(before),
    'a decimal number has a point, not a comma',
  ],
  [({ wanted }) => wanted === 'the end', 'a body must be a single JSON document'],
  [
    ({ found }) => /^[+-]?(?:nan|inf(?:inity)?|ovf)\b/i.test(found),
    'leave the record out, or send null with geo',
  ],
  [({ found }) => /^(?:true|false)$/i.test(found), 'write true and false in lower case'],
  [({ found }) => /^(?:none|null|nil|undefined|nullptr)$/i.test(found), 'write null'],
  [({ found }) => /^[+-]?0x/i.test(found), 'write the number in decimal'],
  [({ found }) => /^\+/.test(found), 'a number has no plus sign'],
  [({ found }) => /^-?\./.test(found), 'a number begins with a digit, such as 0.5'],
  [({ found }) => /^-?0\d/.test(found), 'a number does not begin with a zero'],
  [({ found }) => /^-?\d+\.(?:\D|$)/.test(found), 'a digit must follow the point of a number'],
  [({ found, wanted }) => /^[\w.+-]/.test(found) && /value|name/.test(wanted), 'put a text in double quotes'],
]
