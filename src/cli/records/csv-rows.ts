/** A cell; undefined if it is empty and not quoted. */
export type Cell = string | undefined

export interface CsvRow {
  /** On which it begins, from 1. */
  readonly line: number
  readonly cells: readonly Cell[]
  /** Whether a quote was opened and never closed: nothing can be said of the cells then. */
  readonly isBroken: boolean
}

/** RFC 4180, line ends LF or CRLF. Empty lines are skipped. */
export async function* csvRows(texts: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const reader = new RowReader()
  for await (const text of texts) yield* reader.read(text)
  yield* reader.end()
}

type State = 'begin' | 'plain' | 'quoted' | 'quote in quoted'

class RowReader {
  #state: State = 'begin'
  #cell = ''
  #wasQuoted = false
  #cells: Cell[] = []
  #line = 1
  #rowLine = 1

  #endCell(): void {
    const text = this.#wasQuoted ? this.#cell : this.#cell.trim()
    this.#cells.push(text === '' && !this.#wasQuoted ? undefined : text)
    this.#cell = ''
    this.#wasQuoted = false
    this.#state = 'begin'
  }

  *read(text: string): Generator<CsvRow> {
    for (const character of text) {
      if (character === '\n') this.#line++
      if (this.#state === 'quoted') {
        if (character === '"') this.#state = 'quote in quoted'
        else this.#cell += character
      } else if (this.#state === 'quote in quoted' && character === '"') {
        this.#cell += '"'
        this.#state = 'quoted'
      } else if (character === ',') this.#endCell()
      else if (character === '\n') yield* this.#endRow()
      else if (character === '"' && this.#state === 'begin') {
        this.#wasQuoted = true
        this.#state = 'quoted'
      } else {
        this.#cell += character
        this.#state = 'plain'
      }
    }
  }

  *end(): Generator<CsvRow> {
    const isBroken = this.#state === 'quoted'
    if (isBroken || this.#cells.length > 0 || this.#cell !== '' || this.#wasQuoted)
      yield* this.#endRow(isBroken)
  }

  *#endRow(isBroken = false): Generator<CsvRow> {
    if (this.#cell.endsWith('\r')) this.#cell = this.#cell.slice(0, -1)
    this.#endCell()
    const row = { line: this.#rowLine, cells: this.#cells, isBroken }
    this.#cells = []
    this.#rowLine = this.#line
    const isEmpty = row.cells.length === 1 && row.cells[0] === undefined
    if (!isEmpty || isBroken) yield row
  }
}
