import { writeFile } from 'node:fs/promises'
import type { Verdict } from './comparison.ts'
import { figureText, measureText } from './report.ts'

const path = new URL('../../docs/inside/performance.svg', import.meta.url)

/** Pixels. */
const size = { row: 26, bar: 14, label: 560, axis: 420, figure: 120, top: 56, bottom: 12 }
const width = size.label + size.axis + size.figure
/** How many times its floor a bar can show; what is more is cut. */
const farthest = 4
const colours = {
  aim: '#2a7f4f',
  floor: '#3b6fb6',
  missed: '#c0392b',
  'not measured': '#999999',
  line: '#222222',
} as const

interface Row {
  readonly name: string
  readonly verdict: Verdict
}

/**
 * Writes docs/inside/performance.svg. Measures have different units, so a bar shows how many times better than its floor a
 * figure is; the aim is a tick, the spread of the rounds a line.
 */
export async function writeChart(rows: readonly Row[]): Promise<void> {
  await writeFile(path, chart(rows))
}

function chart(rows: readonly Row[]): string {
  const height = size.top + rows.length * size.row + size.bottom
  const floor = x(1)
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    '<title>Each measure of the bench as times its floor</title>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(
      12,
      20,
      'A longer bar is better: it shows how many times better than its floor a measure is. Thin line: lowest to highest round. Tick: aim.',
    ),
    ...rows.flatMap(draw),
    `<line x1="${floor}" y1="${size.top - 8}" x2="${floor}" y2="${height - size.bottom}" stroke="${colours.line}" stroke-dasharray="4 3"/>`,
    text(floor, size.top - 12, 'floor', 'middle'),
    '</svg>',
  ]
  return `${lines.join('\n')}\n`
}

function draw({ name, verdict }: Row, place: number): string[] {
  const { bar, figure, lowest, highest, grade } = verdict
  const top = size.top + place * size.row
  const middle = top + size.row / 2
  const label = text(size.label - 10, middle + 4, measureText(name, bar), 'end')
  const figureLabel = text(size.label + size.axis + 10, middle + 4, figureText(figure, bar.unit))
  if (grade === 'not measured') return [label, text(size.label + 6, middle + 4, 'not measured')]
  const timesFloor = (value: number) => (bar.bound === 'at least' ? value / bar.floor : bar.floor / value)
  const end = x(timesFloor(figure))
  const [left, right, aim] = [lowest, highest, bar.aim].map(value => x(timesFloor(value)))
  return [
    label,
    `<rect x="${size.label}" y="${middle - size.bar / 2}" width="${round(end - size.label)}" height="${size.bar}" fill="${colours[grade]}"/>`,
    `<line x1="${left}" y1="${middle}" x2="${right}" y2="${middle}" stroke="${colours.line}"/>`,
    `<line x1="${aim}" y1="${middle - 10}" x2="${aim}" y2="${middle + 10}" stroke="${colours.line}" stroke-width="2"/>`,
    figureLabel,
  ]
}

/** @param timesFloor how many times better than the floor */
function x(timesFloor: number): number {
  return round(size.label + (Math.min(timesFloor, farthest) / farthest) * size.axis)
}

function text(left: number, baseline: number, words: string, anchor = 'start'): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${left}" y="${baseline}" text-anchor="${anchor}" fill="${colours.line}">${escaped}</text>`
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
