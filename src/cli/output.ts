import { once } from 'node:events'
import { printable } from '../core/json/printable.ts'

/** Writes to stdout, and waits if the reader of stdout cannot keep up. */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

export async function printLine(text: string): Promise<void> {
  await print(`${text}\n`)
}

/** Prints one JSON document on a line. */
export async function printJson(document: unknown): Promise<void> {
  await printLine(JSON.stringify(document))
}

/** Prints the result of a command: as a JSON document with `--json`, else as text. */
export async function printResult(
  { json }: { readonly json?: true | undefined },
  document: unknown,
  text: string,
): Promise<void> {
  await (json ? printJson(document) : printLine(text))
}

/** A table with a header line. Each column is as wide as its widest cell. The text does not end with a line break. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head.map(name => name.toUpperCase()), ...rows.map(row => row.map(printable))]
  const widest = (column: number) =>
    lines.reduce((width, line) => Math.max(width, line[column]?.length ?? 0), 0)
  const widths = head.map((_, column) => widest(column))
  return lines
    .map(line => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map(line => line.trimEnd())
    .join('\n')
}

/** A value as it is shown in a table: strings unchanged, all other values as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A number with thousands separators, such as `50,112`. */
export function grouped(count: number): string {
  return count.toLocaleString('en')
}

/** A number with a noun, such as `1 record` or `50,112 records`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}
