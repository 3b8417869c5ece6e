import { execFile } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { cpus, loadavg, release, type } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { median, quantile } from '../program.ts'
import type { Bar, Outcome, Verdict } from './comparison.ts'

const run = promisify(execFile)

export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly kernel: string
  readonly node: string
  /** Of the directory where the stores are. */
  readonly fileSystem: string
  /** Of the last minute; what others do is in every figure. */
  readonly loadAverage: number
  readonly sync: SyncTimes
}

/** Of one fdatasync, milliseconds. */
export interface SyncTimes {
  readonly p50: number
  readonly p99: number
}

export async function describeMachine(directory: string): Promise<Machine> {
  const processors = cpus()
  const { stdout } = await run('df', ['--output=fstype,source', directory])
  return {
    processor: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    kernel: `${type()} ${release()}`,
    node: process.version,
    fileSystem: (stdout.split('\n')[1] ?? '').split(/\s+/).join(' on '),
    loadAverage: loadavg()[0] ?? Number.NaN,
    sync: await timeSyncs(directory, 1),
  }
}

/** Bytes that are appended before each fdatasync: about a commit under load. */
const appended = Buffer.alloc(4_096, 'a')

/** Appends to a file and syncs it, again and again, for so many seconds. */
export async function timeSyncs(directory: string, seconds: number): Promise<SyncTimes> {
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

export function machineLine({
  processor,
  cores,
  kernel,
  node,
  fileSystem,
  loadAverage,
  sync,
}: Machine): string {
  return (
    `${processor}, ${cores} cores; ${kernel}; Node ${node}; ${fileSystem};\n` +
    `load average before the run ${loadAverage.toFixed(1)}; ` +
    `fdatasync p50 ${sync.p50.toFixed(2)} ms, p99 ${sync.p99.toFixed(2)} ms`
  )
}

/** What the product is held to, a line each. */
export function verdictTable(outcomes: readonly Pick<Outcome, 'name' | 'verdicts'>[]): string {
  const header = ['measure', 'median', 'lowest', 'highest', 'floor', 'aim', 'reached']
  const rows = outcomes.flatMap(({ name, verdicts }) =>
    verdicts.map(({ bar, figure, lowest, highest, grade }) => {
      const sign = bar.bound === 'at least' ? '≥' : '≤'
      const limits = [bar.floor, bar.aim].map(limit => `${sign} ${limit.toLocaleString('en')}`)
      return [
        measureText(name, bar),
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
      return [
        place === 0 ? name : '',
        side,
        ...spread.map(figure => figureText(figure)),
        unit,
        coresText(all),
      ]
    }),
  )
  return aligned([header, ...rows])
}

export function measureText(name: string, { measure }: Pick<Bar, 'measure'>): string {
  return measure === 'product' ? name : `${name}: ${measure}`
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

function coresText(turns: readonly Outcome['turns'][string][number][]): string {
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
