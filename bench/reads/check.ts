import { report } from '../program.ts'
import type { Question, Rollups, SummaryFunction, View } from './questions.ts'
import { end, gap, partsOfOne, rowsOf } from './rows.ts'
import { numbersIn, type OpenSide, type Side, whileOpen } from './side.ts'

/** In which equal numbers are equal: sums of doubles differ by the order in which they are added. */
const digits = 15
const functions: readonly SummaryFunction[] = ['avg', 'min', 'max', 'sum', 'count']
/** Of a whole range, compared value by value; of the rest the lines are counted. */
const mostCompared = 200_000
const shifts = [0, 5_003_000]

/**
 * Asks every side for every view and for its newest records one by one, and reads all that it has: so what it keeps is also in
 * the page cache.
 *
 * @throws Error with the first answer that differs from what the rows fold to, one by one
 */
export async function checkAnswers(sides: readonly Side[], views: readonly View[], records: number) {
  const all: Question = { kind: 'csv', from: end - records * gap, to: end }
  // A sum hides a record that differs a little.
  const asked = [all, ...views.flatMap(view => shifts.map(shift => view.at(shift, records)))]
  const questions = asked.map(checkable)
  const folded = new FoldedRows(records)
  const expected = questions.map(question => folded.numbers(question))
  for (const side of sides) {
    report(`answers of ${side.name} are compared`)
    await whileOpen(side, async opened => {
      await countLines(opened, all, side.name, records)
      for (const [index, question] of questions.entries()) {
        const rows = numbersIn(question, await textOf(opened, question))
        compareRows(rows, expected[index] ?? [], `${side.name}, ${JSON.stringify(question)}`)
      }
    })
  }
}

/** Asks for more than is timed, or for less of what would not fit in memory. */
function checkable(question: Question): Question {
  if (question.kind === 'summaries') return { ...question, functions, isExact: true }
  if (question.kind === 'csv') return { ...question, from: Math.max(question.from, end - mostCompared * gap) }
  return question
}

async function textOf(side: OpenSide, question: Question): Promise<string> {
  const parts: Buffer[] = []
  await side.ask(question, part => parts.push(part))
  return Buffer.concat(parts).toString()
}

async function countLines(side: OpenSide, all: Question, name: string, records: number): Promise<void> {
  let lines = 0
  await side.ask(all, part => {
    lines += linesIn(part)
  })
  // One is the header.
  if (lines !== records + 1) throw new Error(`${name} has ${lines - 1} of ${records} records`)
}

export function linesIn(part: Buffer): number {
  let lines = 0
  for (let at = part.indexOf(0x0a); at !== -1; at = part.indexOf(0x0a, at + 1)) lines++
  return lines
}

function compareRows(rows: readonly number[][], expected: readonly number[][], what: string): void {
  if (rows.length !== expected.length)
    throw new Error(`${what}: ${rows.length} rows, ${expected.length} expected`)
  for (const [index, row] of rows.entries()) {
    const wanted = expected[index] ?? []
    if (row.length !== wanted.length || !row.every((number, column) => isSame(number, wanted[column])))
      throw new Error(`${what}: row ${index} is ${row.join()}, not ${wanted.join()}`)
  }
}

function isSame(a: number, b = Number.NaN): boolean {
  const size = Math.max(Math.abs(a), Math.abs(b))
  return Math.abs(a - b) <= 10 ** (Math.floor(Math.log10(size)) - digits + 1)
}

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

  /** As `numbersIn`. */
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
