import { FoldedRows } from './folded-rows.ts'
import type { Question, SummaryFunction, View } from './questions.ts'
import { end, gap } from './rows.ts'
import type { OpenSide, Side } from './side.ts'

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
export async function checkAnswers(
  sides: readonly Side[],
  views: readonly View[],
  records: number,
  onProgress: (text: string) => void,
): Promise<void> {
  const all: Question = { kind: 'csv', from: end - records * gap, to: end }
  // A sum hides a record that differs a little.
  const asked = [all, ...views.flatMap(view => shifts.map(shift => view.at(shift, records)))]
  const questions = asked.map(checkable)
  const folded = new FoldedRows(records)
  const expected = questions.map(question => folded.numbers(question))
  for (const side of sides) {
    onProgress(`answers of ${side.name} are compared`)
    const opened = await side.open()
    try {
      await countLines(opened, all, side.name, records)
      for (const [index, question] of questions.entries()) {
        const rows = opened.numbers(question, await textOf(opened, question))
        compareRows(rows, expected[index] ?? [], `${side.name}, ${JSON.stringify(question)}`)
      }
    } finally {
      await opened.close()
    }
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
    for (let at = part.indexOf(0x0a); at !== -1; at = part.indexOf(0x0a, at + 1)) lines++
  })
  // One is the header.
  if (lines !== records + 1) throw new Error(`${name} has ${lines - 1} of ${records} records`)
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
