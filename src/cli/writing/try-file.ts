import { failure } from '../exit.ts'
import { folded, type Told } from '../load/folded.ts'
import { faultText, namedLines } from '../load/refused-lines.ts'
import { counted, printJson, printLine } from '../output.ts'
import { type FileReader, summaryOf } from './file-reader.ts'

/**
 * Reads a file to its end and says what would be written of it. No server is asked: a write that it refuses would stay on the
 * thing's list of refused writes.
 *
 * @throws CommandError failed if lines cannot be read, with why
 */
export async function tryFile(
  reader: FileReader,
  { name, json }: { readonly name: string; readonly json: true | undefined },
): Promise<void> {
  let records = 0
  const told: Told[] = []
  for await (const { line, records: found, fault } of reader.read()) {
    records += found.length
    if (fault) told.push({ line, text: faultText(fault) })
  }
  const notes = reader.notes.lines()
  if (json) {
    const columns = reader.columns.map(summaryOf)
    await printJson({ records, refused: told.length, columns, first: reader.first, notes })
  } else {
    for (const note of notes) await printLine(`note      ${note}`)
    await printLine(`${counted(records, 'record')} of ${name} would be written`)
  }
  if (told.length === 0) return
  throw failure(
    `${counted(told.length, 'line')} of ${name} cannot be read`,
    folded(told).slice(0, namedLines),
  )
}
