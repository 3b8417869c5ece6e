import { grouped } from '../output.ts'

export interface Complaint {
  readonly line: number
  readonly text: string
}

/** A line for each text, in the order in which they came up: a mistake of a whole file is said once. */
export function folded(complaints: readonly Complaint[]): string[] {
  const linesOf = new Map<string, Set<number>>()
  for (const { line, text } of complaints) {
    const lines = linesOf.get(text) ?? new Set()
    linesOf.set(text, lines.add(line))
  }
  return [...linesOf].map(([text, lines]) => `${linesText([...lines])}: ${text}`)
}

function linesText(lines: readonly number[]): string {
  const [first = 0] = lines
  const last = lines.at(-1) ?? first
  if (lines.length === 1) return `line ${first}`
  if (lines.length === last - first + 1) return `lines ${first} to ${last}`
  return `${grouped(lines.length)} lines from ${first} to ${last}`
}
