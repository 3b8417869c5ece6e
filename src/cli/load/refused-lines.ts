import { failure } from '../exit.ts'
import { grouped } from '../output.ts'
import type { Fault } from '../records/sourced.ts'
import type { Batch } from './batches.ts'

/** Maximum number of reasons that one message lists. */
export const namedLines = 20

/**
 * The error that ends a load at lines that cannot be read or that the server refuses.
 *
 * @param reasons one line of text for each reason
 * @param isFirst whether nothing of the file has been written yet
 */
export function refusedLines({ lines, faults }: Batch, reasons: readonly string[], isFirst: boolean) {
  const all = [...lines, ...faults.map(({ line }) => line)].sort((one, other) => one - other)
  const range = all[0] === all.at(-1) ? `line ${all[0]} is` : `lines ${all[0]} to ${all.at(-1)} are`
  const rule =
    `${range} not written${isFirst ? '' : '; all earlier lines are'}. Correct the file and run the same command again${isFirst ? '' : ': the load continues from there'}. ` +
    'Or leave out refused records with --partial'
  return failure(rule, reasons.slice(0, namedLines))
}

export function faultText({ field, message }: Fault): string {
  return field === '' || message.startsWith(field) ? message : `${field}: ${message}`
}

export interface Complaint {
  readonly line: number
  readonly text: string
}

/**
 * One line for each different text, in order of first occurrence, so that a mistake throughout the file is reported once. Texts
 * that differ only in quoted cells count as equal; the first of them is shown.
 */
export function folded(complaints: readonly Complaint[]): string[] {
  const kinds = new Map<string, { readonly texts: Set<string>; readonly lines: Set<number> }>()
  for (const { line, text } of complaints) {
    const kind = text.replace(/"(?:[^"\\]|\\.)*"/g, '""')
    const { texts, lines } = kinds.get(kind) ?? { texts: new Set(), lines: new Set() }
    kinds.set(kind, { texts: texts.add(text), lines: lines.add(line) })
  }
  return [...kinds.values()].map(({ texts: [first, ...others], lines }) => {
    return `${linesText([...lines])}${others.length > 0 ? ', the first' : ''}: ${first}`
  })
}

function linesText(lines: readonly number[]): string {
  const [first = 0] = lines
  const last = lines.at(-1) ?? first
  if (lines.length === 1) return `line ${first}`
  if (lines.length === last - first + 1) return `lines ${first} to ${last}`
  return `${grouped(lines.length)} lines from ${first} to ${last}`
}
