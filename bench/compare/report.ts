import { execFile } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { cpus, loadavg, release, type } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { median, quantile } from '../program.ts'
import type { Outcome, Turn, Verdict } from './comparison.ts'

const run = promisify(execFile)

/** Two lines: the load average is that of the last minute, since what others do is in every figure. */
export async function describeMachine(directory: string): Promise<string> {
  const processors = cpus()
  const { stdout } = await run('df', ['--output=fstype,source', directory])
  const fileSystem = (stdout.split('\n')[1] ?? '').split(/\s+/).join(' on ')
  const sync = await timeSyncs(directory, 1)
  return (
    `${processors[0]?.model}, ${processors.length} cores; ${type()} ${release()}; Node ${process.version}; ${fileSystem};\n` +
    `load average before the run ${loadavg()[0]?.toFixed(1)}; ` +
    `fdatasync p50 ${sync.p50.toFixed(2)} ms, p99 ${sync.p99.toFixed(2)} ms`
  )
}

/** Bytes that are appended before each fdatasync: about a commit under load. */
const appended = Buffer.alloc(4_096, 'a')

/** What one fdatasync takes, milliseconds: appends to a file and syncs it, again and again, for so many seconds. */
export async function timeSyncs(directory: string, seconds: number) {
  const path = join(directory, 'fdatasync')
  const file = await open(path, 'w')
  const times: number[] = []
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
    await file.write(appended)
    const begin = performance.now()
    await file.datasync()
    times.push(performance.now() - begin)
  }
  await file.close()
  await rm(path)
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

/** From this share of a core on, a process of one thread is saturated. */
const saturated = 0.9
/** What the lines are wide at most, in characters. */
const width = 140

/** What the product is held to, a line each. */
export function verdictTable(outcomes: readonly Pick<Outcome, 'name' | 'verdicts'>[]): string {
  const header = ['measure', 'median', 'lowest', 'highest', 'floor', 'aim', 'reached']
  const rows = outcomes.flatMap(({ name, verdicts }) =>
    verdicts.map(({ bar, figure, lowest, highest, grade }) => {
      const sign = bar.bound === 'at least' ? '≥' : '≤'
      const limits = [bar.floor, bar.aim].map(limit => `${sign} ${limit.toLocaleString('en')}`)
      return [
        bar.measure === 'product' ? name : `${name}: ${bar.measure}`,
        figureText(figure, bar.unit),
        figureText(lowest),
        figureText(highest),
        ...limits,
        grade,
      ]
    }),
  )
  return aligned([header, ...rows])
}

/** What each side did, a line each: its figure and its spread, and the cores that its processes and the load took. */
export function sideTable(outcomes: readonly Outcome[]): string {
  const header = ['measure', 'side', 'median', 'lowest', 'highest', 'unit', 'cores']
  const rows = outcomes.flatMap(({ name, unit, turns }) =>
    Object.entries(turns).map(([side, all], place) => {
      const figures = all.map(({ figure }) => figure)
      const spread = [median(figures), Math.min(...figures), Math.max(...figures)]
      const measure = place === 0 ? name : ''
      return [measure, side, ...spread.map(figure => figureText(figure)), unit, coresText(all)]
    }),
  )
  return aligned([header, ...rows])
}

export function figureText(figure: number, unit?: string): string {
  if (!Number.isFinite(figure)) return '–'
  const digits = figure >= 100 ? 0 : 2
  const text = figure.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return unit === undefined ? text : `${text} ${unit}`
}

export function isReached({ grade }: Verdict): boolean {
  return grade === 'aim' || grade === 'floor'
}

function coresText(turns: readonly Turn[]): string {
  const names = Object.keys(turns[0]?.cores ?? {})
  const shares = names.map(name => {
    const share = median(turns.map(({ cores }) => cores[name] ?? 0))
    return `${name} ${share.toFixed(2)}${share >= saturated ? '*' : ''}`
  })
  const note = turns.at(-1)?.note
  return [...shares, ...(note === undefined ? [] : [`(${note})`])].join(' ')
}

/** Columns of equal width; the last one goes on in a line of its own where it would be too long. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  const indent = '  '.repeat(2)
  return rows
    .map(row => {
      const last = row.at(-1) ?? ''
      const others = row.slice(0, -1).map((cell, column) => cell.padEnd(widths[column] ?? 0))
      const line = [...others, last].join('  ')
      return line.length <= width ? line : `${others.join('  ').trimEnd()}\n${indent}${last}`
    })
    .join('\n')
}
