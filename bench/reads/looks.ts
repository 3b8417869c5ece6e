import { rotated } from '../program.ts'
import type { OpenProduct, ProductSide } from './product.ts'
import { hour, monthByHour, type View } from './questions.ts'
import { end, gap } from './rows.ts'
import type { OpenSide, Side } from './side.ts'

/** What one side took for one view in one round. */
export interface Turn {
  readonly view: string
  readonly side: string
  readonly records: number
  readonly round: number
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
  readonly onProgress: (text: string) => void
}

/** Between two windows: hours, and odd seconds, so that no bucket of one is cut as one of the other. */
const step = hour + 7_000
/** By which share of the windows' span each is farther than the one before, round and round: none comes twice. */
const goldenRatio = (Math.sqrt(5) - 1) / 2
/** Milliseconds in which a view is asked for again and again: those of a new process also wait for what V8 compiles. */
const least = 2_000
/** All sides in turn, each view by a new process, round after round; who begins changes. */
export async function look(
  sides: readonly Side[],
  views: readonly View[],
  { records, rounds, looks, onProgress }: Looking,
): Promise<Turn[]> {
  const turns: Turn[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const view of views) {
      onProgress(`${view.name}: round ${round} of ${rounds}`)
      for (const side of rotated(sides, round - 1)) {
        const timed = await whileOpen(side, opened => time(opened, view, records, looks))
        turns.push({ view: view.name, side: side.name, records, round, ...timed })
      }
    }
  }
  return turns
}

/** From a late record to the answer that has it: its name among the views. */
export const lateRecord = 'one late record in the middle'

/** Averages of 30 days in a store to which late records come; `first` is the look behind each of them. */
export async function lookBehindLateRecords(
  sides: readonly ProductSide[],
  { records, rounds, looks, onProgress }: Looking,
): Promise<Turn[]> {
  const turns: Turn[] = []
  for (let round = 1; round <= rounds; round++) {
    onProgress(`${lateRecord}: round ${round} of ${rounds}`)
    for (const side of rotated(sides, round - 1)) {
      const timed = await whileOpen(side, async opened => {
        const { later } = await time(opened, monthByHour, records, looks)
        return { first: await timeBehindLateRecords(opened, records, looks, round), later }
      })
      turns.push({ view: lateRecord, side: side.name, records, round, ...timed })
    }
  }
  return turns
}

async function timeBehindLateRecords(
  opened: OpenProduct,
  records: number,
  looks: number,
  round: number,
): Promise<number[]> {
  const middle = end - Math.floor(Math.min(records * gap, 30 * 24 * hour) / 2)
  const times: number[] = []
  for (let place = 1; place <= looks; place++) {
    await opened.writeLate(middle + place * 60 * gap + round)
    times.push(await ask(opened, monthByHour, place * step + gap, records))
  }
  return times
}

async function whileOpen<Opened extends OpenSide, Result>(
  side: { open(): Promise<Opened> },
  task: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const opened = await side.open()
  try {
    return await task(opened)
  } finally {
    await opened.close()
  }
}

async function time(
  opened: OpenSide,
  view: View,
  records: number,
  looks: number,
): Promise<Pick<Turn, 'first' | 'later'>> {
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
