import { parse } from 'csv-parse/sync'

/** What separates the cells of a file, and how many of its lines say that alone. */
interface Separator {
  readonly character: string
  readonly lines: 0 | 1
}

/** Of those that would do equally well, the first: a comma stands in names and numbers, too. */
const separators = ['\t', ';', ',']
/** What is taken that RFC 4180 does not have: quotes in the middle of a cell, empty lines, every line end. */
export const lenience = {
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  skip_empty_lines: true,
}
const separatorLine = /^"?sep=(.)"?\r?\n?/i

/**
 * What separates the cells: what a line `sep=;` in front says, as spreadsheets write it; else what cuts header and first row
 * into equally many cells, and most.
 *
 * @param begin of the file: at least header and first row, where it has both
 */
export function separatorOf(begin: string): Separator {
  const said = separatorLine.exec(begin)?.[1]
  if (said !== undefined) return { character: said, lines: 1 }
  const ranked = separators.map(character => ({ character, cells: cellsWith(character, begin) }))
  const best = ranked.reduce((one, other) => (other.cells > one.cells ? other : one))
  return { character: best.cells > 1 ? best.character : ',', lines: 0 }
}

/** 0 if header and first row have not equally many, or cannot be read with this separator. */
function cellsWith(delimiter: string, begin: string): number {
  try {
    const [head = [], row = head] = parse(begin, {
      ...lenience,
      delimiter,
      to: 2,
    })
    return row.length === head.length ? head.length : 0
  } catch {
    return 0
  }
}

/** The text behind a line that says the separator alone. */
export function withoutSeparatorLine(begin: string): string {
  return begin.replace(separatorLine, '')
}
