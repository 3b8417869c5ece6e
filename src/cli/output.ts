import { once } from 'node:events'
import { printable } from '../core/json/printable.ts'

/** Writes to stdout, at the pace of whoever reads it. */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

export async function printLine(text: string): Promise<void> {
  await print(`${text}\n`)
}

/** One JSON document. */
export async function printJson(document: unknown): Promise<void> {
  await printLine(JSON.stringify(document))
}

/** What has come of a command: as a JSON document with `--json`, else as text. */
export async function printResult(
  { json }: { readonly json?: true | undefined },
  document: unknown,
  text: string,
): Promise<void> {
  await (json ? printJson(document) : printLine(text))
}

/** Columns as wide as their widest cell; a head, then the rows. The last line has no end. */
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

/** A JSON value for a table: strings as they are, the rest as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `50,112`. */
export function grouped(count: number): string {
  return count.toLocaleString('en')
}

/** `1 record`, `50,112 records`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}
