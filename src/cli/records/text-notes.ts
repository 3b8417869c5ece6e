import { counted } from '../output.ts'
import { type Decimal, isNearlyNumber } from './number-text.ts'

interface Texts {
  numbers: number
  count: number
  /** Of the texts that are nearly numbers. */
  nearly: number
  first: { readonly line: number; readonly text: string } | undefined
}

/** Counts the texts of each key that were probably meant as numbers. */
export class TextNotes {
  readonly #keys = new Map<string, Texts>()
  readonly #decimal: Decimal

  constructor(decimal: Decimal = '.') {
    this.#decimal = decimal
  }

  add(line: number, key: string, value: unknown): void {
    const texts = this.#keys.get(key) ?? { numbers: 0, count: 0, nearly: 0, first: undefined }
    this.#keys.set(key, texts)
    if (typeof value === 'number') texts.numbers++
    if (typeof value !== 'string' || value === '') return
    const isNearly = isNearlyNumber(value)
    // The first that looks like a number says more than one before it.
    if (!texts.first || (isNearly && texts.nearly === 0)) texts.first = { line, text: value }
    texts.count++
    if (isNearly) texts.nearly++
  }

  /** A line for each key with texts that look like numbers, or with both texts and numbers. */
  lines(): string[] {
    return [...this.#keys].flatMap(([key, { numbers, count, nearly, first }]) => {
      if (!first || (nearly === 0 && numbers === 0)) return []
      const all = numbers > 0 ? count : nearly
      const are = all === 1 ? 'is stored as text' : 'are stored as text'
      return [
        `${key}: ${counted(all, 'value')} ${are}, the first on line ${first.line}: ${first.text.slice(0, 40)}; ${this.#advice(first.text)}`,
      ]
    })
  }

  #advice(text: string): string {
    if (this.#decimal === ',') return 'with --decimal , a number is written as 21,5'
    if (/^[+-]?\d+,\d+$/.test(text)) return 'a number is written as 21.5, or read as 21,5 with --decimal ,'
    return 'a number is written as 21.5; where there is none, leave the cell empty'
  }
}
