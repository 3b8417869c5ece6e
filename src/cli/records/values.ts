import { isInexact, LossyJson, parseExactly } from '../../core/json/exact-json.ts'
import { counted } from '../output.ts'

/** The character between the whole part of a number and its decimals. */
export type Decimal = '.' | ','

const plain = /^-?(0|[1-9]\d*)([.,]\d+([eE][+-]?\d+)?|[eE][+-]\d+)?$/

/**
 * Matches numbers that people, spreadsheets or sensors spell unlike JSON, such as `21,5`, `1,234.5`, `+3`, `.5`, `007`, `0x1F`,
 * `−3` or `NaN`, perhaps with other characters around them or a unit: `'-2.0`, `<0.1`, `(2.5)`, `USD 5`, `21.5°C`, `5 mg/m3`.
 */
export const nearlyNumber =
  /^(?:[^\d.,]{0,6}[^\p{L}\d_.,-])?[+\-−]?\s*(\d+([.,]\d*)?|[.,]\d+|\d{1,3}([,. '’\u00a0\u202f]\d{3})+([.,]\d*)?|0x[\da-f]+|nan|inf(inity)?)(e[+-]?\d+)?\s*(?:[^\d\s:/.,_-][^\d]{0,11}\d?)?$/iu

/** The JSON text of a number with this decimal sign; undefined for any other text, and for codes such as `1E5`. */
function jsonNumber(text: string, decimal: Decimal): string | undefined {
  return plain.test(text) && !text.includes(decimal === '.' ? ',' : '.') ? text.replace(',', '.') : undefined
}

/** The number in a text with this decimal sign; undefined if the text is not a number, or if a 64-bit float would change it. */
export function plainNumber(text: string, decimal: Decimal = '.'): number | undefined {
  const json = jsonNumber(text, decimal) ?? ''
  return json !== '' && !isInexact(json) && Number.isFinite(Number(json)) ? Number(json) : undefined
}

/** Parses numbers, objects, arrays, and true and false in any case. Other text remains a string; lossy JSON gives a LossyJson. */
export function jsonOrText(text: string, decimal: Decimal): unknown {
  const number = plainNumber(text, decimal)
  if (number !== undefined) return number
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  const json = /^[[{]/.test(text) ? text : jsonNumber(text, decimal)
  try {
    return json === undefined ? text : parseExactly(json)
  } catch (error) {
    return error instanceof LossyJson ? error : text
  }
}

/** The value itself if it is a text; for an object or array, the first number in it that is stored as text; else undefined. */
export function textIn(value: unknown): string | undefined {
  if (typeof value !== 'object') return typeof value === 'string' ? value : undefined
  const numbers = JSON.stringify(value).match(/(?<=")-?\d[\d.eE+-]+(?=")/g)
  return numbers?.find(isInexact)
}

/** Says why a text is not stored as a number, or how to spell the number so that it is stored as one. */
export function whyText(text: string, number = '21.5, or as 21,5 with --decimal ,'): string {
  if (isInexact(text)) return 'a 64-bit float would change it'
  if (!/\d/.test(text)) return 'where there is no number, leave the cell empty'
  return `a number is written without quotes, signs and units, as ${number}`
}

/** Counts for one key: `nearly` of its `count` texts are almost numbers. `first` is the text to show, `line` its line. */
const noTexts = { numbers: 0, count: 0, nearly: 0, line: 0, first: '' }

/** Counts the texts of each key that were probably meant as numbers, and collects other notes on a file. */
export class TextNotes {
  readonly #keys = new Map<string, typeof noTexts>()
  readonly #others = new Map<string, string>()
  /** A note on columns that may be the hours of a day; empty if there are none. */
  hours = ''

  add(line: number, key: string, value: unknown): void {
    const texts = this.#keys.get(key) ?? { ...noTexts }
    this.#keys.set(key, texts)
    if (typeof value === 'number') texts.numbers++
    const text = textIn(value)
    if (!text) return
    const isNearly = nearlyNumber.test(text)
    // The first text that looks like a number is more useful to the reader than texts before it.
    if (texts.count === 0 || (isNearly && texts.nearly === 0)) Object.assign(texts, { line, first: text })
    texts.count++
    if (isNearly) texts.nearly++
  }

  /** Adds a note on a key, unless the key has a note already. */
  addOnce(key: string, note: string): void {
    if (!this.#others.has(key)) this.#others.set(key, `${key}: ${note}`)
  }

  /** A line for each key that has texts like numbers, or both texts and numbers; then all other notes. */
  lines(): string[] {
    const ofTexts = [...this.#keys].flatMap(([key, { numbers, count, nearly, line, first }]) => {
      const all = numbers > 0 ? count : nearly
      if (all === 0) return []
      return [
        `${key}: ${counted(all, 'value')} stored as text, the first on line ${line}: ${first.slice(0, 40)}; ${whyText(first)}`,
      ]
    })
    return [...ofTexts, ...this.#others.values(), this.hours].filter(note => note !== '')
  }
}
