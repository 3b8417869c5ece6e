import { counted } from '../output.ts'

/** The character before the decimals. */
export type Decimal = '.' | ','

const json = /^-?(0|[1-9]\d*)(\.\d+([eE][+-]?\d+)?|[eE][+-]\d+)?$/
const withComma = /^-?(0|[1-9]\d*)(,\d+([eE][+-]?\d+)?|[eE][+-]\d+)?$/

/**
 * One number, spelled by people, spreadsheets and sensors, and no JSON: `21,5`, `1,234.5`, `+3`, `.5`, `007`, `0x1F`, `−3`, `NaN`; also
 * between signs and with a unit: `'-2.0`, `<0.1`, `(2.5)`, `USD 5`, `21.5°C`, `5 mg/m3`.
 */
export const nearlyNumber =
  /^(?:[^\d.,]{0,6}[^\p{L}\d_.,-])?[+\-−]?\s*(\d+([.,]\d*)?|[.,]\d+|\d{1,3}([,. '’\u00a0\u202f]\d{3})+([.,]\d*)?|0x[\da-f]+|nan|inf(inity)?)(e[+-]?\d+)?\s*(?:[^\d\s:/.,_-][^\d]{0,11}\d?)?$/iu

/** The number that a text is, as JSON spells it or with a decimal comma; else undefined, also for a code such as `1E5`. */
export function plainNumber(text: string, decimal: Decimal = '.'): number | undefined {
  if (!(decimal === '.' ? json : withComma).test(text)) return undefined
  const number = Number(text.replace(',', '.'))
  // The last digits of a longer integer, such as the number of a SIM, would be lost.
  const isLong = /^-?\d+$/.test(text) && Number.isFinite(number) && !Number.isSafeInteger(number)
  return isLong && String(number) !== text ? undefined : number
}

/** Numbers, objects and arrays as JSON spells them, true and false as spreadsheets do, too; every other text is a string. */
export function jsonOrText(text: string, decimal: Decimal): unknown {
  const number = plainNumber(text, decimal)
  if (number !== undefined) return number
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (!/^[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Of one key; `nearly`: of the `count` texts those that are nearly numbers. */
const noTexts = { numbers: 0, count: 0, nearly: 0, line: 0, first: '' }

/** Counts the texts of each key that were probably meant as numbers, and finds two series under one key. */
export class TextNotes {
  readonly #keys = new Map<string, typeof noTexts>()
  readonly #twice = new Map<string, string>()

  add(line: number, key: string, value: unknown): void {
    const texts = this.#keys.get(key) ?? { ...noTexts }
    this.#keys.set(key, texts)
    if (typeof value === 'number') texts.numbers++
    if (typeof value !== 'string' || value === '') return
    const isNearly = nearlyNumber.test(value)
    // The first that looks like a number says more than one before it.
    if (texts.count === 0 || (isNearly && texts.nearly === 0)) Object.assign(texts, { line, first: value })
    texts.count++
    if (isNearly) texts.nearly++
  }

  /** Of another value at a time that the key has a value at. */
  addTwice(line: number, key: string, datetime: string): void {
    if (this.#twice.has(key)) return
    const why = 'if the file has several series, write each as a key or a thing of its own'
    this.#twice.set(key, `${key}: line ${line} has a second value at ${datetime}; ${why}`)
  }

  /** A line for each key with texts that look like numbers, or with both texts and numbers, or with two values at one time. */
  lines(): string[] {
    const ofTexts = [...this.#keys].flatMap(([key, { numbers, count, nearly, line, first }]) => {
      if (count === 0 || (nearly === 0 && numbers === 0)) return []
      const all = numbers > 0 ? count : nearly
      return [
        `${key}: ${counted(all, 'value')} stored as text, the first on line ${line}: ${first.slice(0, 40)}; a number is written as 21.5, or as 21,5 with --decimal ,; where there is none, leave the cell empty`,
      ]
    })
    return [...ofTexts, ...this.#twice.values()]
  }
}
