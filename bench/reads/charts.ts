import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { describeMachine } from '../compare/report.ts'
import { makeBenchDirectory, median, quantile, readOptions } from '../program.ts'
import { WatchedTurns } from '../turns/watched-turns.ts'
import { makeProductSide, type OpenProduct, shapes } from './product.ts'
import { end, gap } from './rows.ts'

/**
 * `npm run bench:charts [-- --records 31536000 --writes 5000]`: pan and zoom of a chart over a year of records, one a second,
 * packed, while devices write. Says what each look took, and the turns of the event loop and the acks with the looks and without.
 * Ends with status 1 if a bound is missed. Linux only.
 */

const {
  records,
  writes,
  points,
  directory: parent,
} = readOptions({
  records: 365 * 24 * 3_600,
  /** Records a second, one a write. */
  writes: 5_000,
  /** As wide as a page on a large screen. */
  points: 1_500,
  directory: tmpdir(),
})
/** Milliseconds: of 19 looks in 20, and of the processor time of 99 turns in 100. */
const bounds = { look: 100, turn: 20 }
const pansOfSpan = 8
const shortestSpan = 3_600_000
/** Milliseconds in which nobody looks. */
const stretch = 5_000

const directory = await makeBenchDirectory(parent)
console.log(await describeMachine(directory))

const side = await makeProductSide(shapes[0], directory, records)
const turns = new WatchedTurns(join(directory, 'turns.sock'))
const product = await side.open(turns.environment)
const judged = new JudgedLines()
try {
  const first = await product.chart(end - records * gap, end, points)
  console.log(`the first look of a new process: ${first.toFixed(0)} ms`)
  const quiet = await watched(product, async () => {
    await delay(stretch)
    return []
  })
  const looked = await watched(product, () => panAndZoom(product))
  console.log(`nobody looks: ${quiet.words}`)
  console.log(`while somebody looks: ${looked.words}`)
  const look = quantile(looked.result, 0.95)
  judged.line(
    look <= bounds.look,
    `${looked.result.length} looks: p95 ${look.toFixed(0)} ms (bound ${bounds.look})`,
  )
  judged.line(looked.turn <= bounds.turn, `a turn: p99 ${looked.turn.toFixed(1)} ms (bound ${bounds.turn})`)
} finally {
  await product.close()
}
process.exit(judged.broken === 0 ? 0 : 1)

/** Milliseconds of each look. */
async function panAndZoom(opened: OpenProduct): Promise<number[]> {
  const all: number[] = []
  const whole = records * gap
  for (let span = whole; span >= shortestSpan; span /= 2) {
    const took: number[] = []
    for (let pan = 0; pan < pansOfSpan; pan++) {
      const to = end - ((whole - span) * (pan + 0.5)) / pansOfSpan - pan * gap
      took.push(await opened.chart(Math.floor(to - span), Math.floor(to), points))
    }
    const hours = (span / 3_600_000).toLocaleString('en', { maximumFractionDigits: 1 })
    console.log(
      `${hours} hours: median ${median(took).toFixed(0)} ms, longest ${Math.max(...took).toFixed(0)} ms`,
    )
    all.push(...took)
  }
  return all
}

/** Does something while devices write, and gives what turns and acks were. */
async function watched(opened: OpenProduct, task: () => Promise<number[]>) {
  const endWriting = writes === 0 ? undefined : await opened.write(writes)
  // What is compiled first is no look's.
  await delay(stretch)
  const endWatching = turns.watch()
  const result = await task()
  const { processor } = await endWatching()
  const acks = await endWriting?.()
  const [turn, longest] = [quantile(processor, 0.99), quantile(processor, 1)]
  const words = `a turn p99 ${turn.toFixed(1)} ms, longest ${longest.toFixed(1)} ms${acks === undefined ? '' : `; ${acks}`}`
  return { result, turn, words }
}
