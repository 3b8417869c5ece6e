import { faultAt, type Sourced, type WrittenRecord } from './sourced.ts'
import { linesOf } from './text.ts'

/** NDJSON: a record a line, `{"key","value","datetime"?,"geo"?}`. Empty lines are skipped. */
export async function* ndjsonRecords(texts: AsyncIterable<string>): AsyncGenerator<Sourced> {
  let line = 0
  for await (const text of linesOf(texts)) {
    line++
    if (text.trim() !== '') yield parseLine(line, text)
  }
}

function parseLine(line: number, text: string): Sourced {
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch {
    return faultAt(line, '', 'the line is not JSON')
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return faultAt(line, '', 'the line must be an object {"key","value"}')
  }
  // Its fields are for the server to judge.
  return { line, records: [record as WrittenRecord] }
}
