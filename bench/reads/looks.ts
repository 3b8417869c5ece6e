import { report, rotated } from '../program.ts'
import { linesIn } from './check.ts'
import type { OpenProduct, ProductSide } from './product.ts'
import { csvOfAll, hour, monthByHour, type View } from './questions.ts'
import { end, gap } from './rows.ts'
import { type OpenSide, type Side, whileOpen } from './side.ts'

/** What one side took for one view in one round; turns stand in the order of the rounds. */
export interface Turn {
  readonly view: string
  readonly side: string
  readonly records: number
  /** The first question of a new process, milliseconds. */
  readonly first: readonly number[]
  /** Questions of that process that were not asked before, over spans that it has looked at; milliseconds. */
  readonly later: readonly number[]
}

export interface Looking {
  readonly records: number
  readonly rounds: number
  /** Later looks of a turn; more of what is quick. */
  readonly looks: number
}

type Timing = Pick<Turn, 'first' | 'later'>

/** Between two windows: hours, and odd seconds, so that no bucket of one is cut as one of the other. */
const step = hour + 7_000
/** By which share of the windows' span each is farther than the one before, round and round: none comes twice. */
const goldenRatio = (Math.sqrt(5) - 1) / 2
/** Milliseconds in which a view is asked for again and again: those of a new process also wait for what V8 compiles. */
const least = 2_000

/** From a late record to the answer that has it: its name among the views. */
export const lateRecord = 'one late record in the middle'
const behindLateRecord: View = { ...monthByHour, name: lateRecord }

export function look(sides: readonly Side[], views: readonly View[], looking: Looking): Promise<Turn[]> {
  return lookInTurn(sides, views, looking, (opened, view) => time(opened, view, looking))
}

/** Averages of 30 days in a store to which late records come; `first` is the look behind each of them. */
export function lookBehindLateRecords(sides: readonly ProductSide[], looking: Looking): Promise<Turn[]> {
  return lookInTurn(sides, [behindLateRecord], looking, async (opened, view, round) => {
    const { later } = await time(opened, view, looking)
    return { first: await timeBehindLateRecords(opened, looking, round), later }
  })
}

/** All sides in turn, each view by a new process, round after round; who begins changes. */
async function lookInTurn<Opened extends OpenSide>(
  sides: readonly Side<Opened>[],
  views: readonly View[],
  { records, rounds }: Looking,
  task: (opened: Opened, view: View, round: number) => Promise<Timing>,
): Promise<Turn[]> {
  const turns: Turn[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const view of views) {
      report(`${view.name}: round ${round} of ${rounds}`)
      for (const side of rotated(sides, round - 1)) {
        const timing = await whileOpen(side, opened => task(opened, view, round))
        turns.push({ view: view.name, side: side.name, records, ...timing })
      }
    }
  }
  return turns
}

async function timeBehindLateRecords(opened: OpenProduct, { records, looks }: Looking, round: number) {
  const middle = end - Math.floor(Math.min(records * gap, 30 * 24 * hour) / 2)
  const times: number[] = []
  for (let place = 1; place <= looks; place++) {
    await opened.writeLate(middle + place * 60 * gap + round)
    times.push(await ask(opened, behindLateRecord, place * step + gap, records))
  }
  return times
}

async function time(opened: OpenSide, view: View, { records, looks }: Looking): Promise<Timing> {
  const first = [await ask(opened, view, 0, records)]
  const span = (looks + 1) * step
  // With the first one it covers the windows of all that follow.
  if (view.isSpan) await ask(opened, view, span, records)
  const later: number[] = []
  const begin = performance.now()
  for (let place = 1; place <= looks || performance.now() - begin < least; place++) {
    later.push(await ask(opened, view, view.isSpan ? within(span, place) : place * step, records))
  }
  return { first, later }
}

/** Whole seconds. */
function within(span: number, place: number): number {
  return Math.floor((((place * goldenRatio) % 1) * span) / 1_000) * 1_000
}

function ask(opened: OpenSide, view: View, shift: number, records: number) {
  return opened.ask(view.at(shift, records), () => {})
}

/** Rows of a CSV behind which the memory of a server is compared. */
const settled = 100_000

/** Bytes that a new server takes at most, beyond what it had at row 100,000, until a CSV of all ends. */
export function growthInCsv(side: ProductSide, records: number): Promise<number> {
  return whileOpen(side, async opened => {
    let rows = 0
    const memory: number[] = []
    await opened.ask(csvOfAll.at(0, records), part => {
      rows += linesIn(part)
      if (rows >= settled) memory.push(opened.memory())
    })
    return Math.max(0, ...memory) - (memory[0] ?? 0)
  })
}
