import type { Question, Rollups, SummaryFunction } from './questions.ts'
import { end, gap, partsOfOne, rowsOf } from './rows.ts'

/** Of a bucket, in hundredths: whole numbers, so that no sum is rounded. */
interface Fold {
  readonly begin: number
  count: number
  sum: number
  min: number
  max: number
}

/** The rows themselves, read one by one: what every side has to answer. */
export class FoldedRows {
  /** Hundredths, oldest first. */
  readonly #values: Int16Array
  readonly #begin: number

  constructor(records: number) {
    this.#values = new Int16Array(records)
    this.#begin = end - records * gap
    let index = 0
    for (const { value } of rowsOf(records)) this.#values[index++] = Math.round(value * partsOfOne)
  }

  /** As `OpenSide.numbers`. */
  numbers(question: Question): number[][] {
    if (question.kind === 'summaries') return this.#summaries(question)
    const to = this.#indexAt(question.to ?? end)
    const from = question.kind === 'csv' ? this.#indexAt(question.from) : Math.max(0, to - question.limit)
    const rows: number[][] = []
    for (let index = to - 1; index >= from; index--)
      rows.push([this.#begin + index * gap, (this.#values[index] ?? Number.NaN) / partsOfOne])
    return rows
  }

  #summaries({ functions, interval, from, to }: Rollups): number[][] {
    const folds: Fold[] = []
    for (let index = this.#indexAt(from); index < this.#indexAt(to); index++) {
      const datetime = this.#begin + index * gap
      const begin = datetime - (datetime % interval)
      const value = this.#values[index] ?? Number.NaN
      let fold = folds.at(-1)
      if (fold?.begin !== begin) {
        fold = { begin, count: 0, sum: 0, min: value, max: value }
        folds.push(fold)
      }
      fold.count++
      fold.sum += value
      fold.min = Math.min(fold.min, value)
      fold.max = Math.max(fold.max, value)
    }
    return folds.reverse().map(fold => [fold.begin, ...functions.map(name => numberOf(fold, name))])
  }

  /** Of the first row from a datetime on. */
  #indexAt(datetime: number): number {
    return Math.min(this.#values.length, Math.max(0, Math.ceil((datetime - this.#begin) / gap)))
  }
}

function numberOf({ count, sum, min, max }: Fold, name: SummaryFunction): number {
  if (name === 'count') return count
  return { avg: sum / count, sum, min, max }[name] / partsOfOne
}
