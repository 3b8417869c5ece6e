import { Random } from '../../test/helpers/random.ts'
import { createProgress } from '../program.ts'

/** One row of every side: the same in each run. */
export interface Row {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly datetime: number
  /** With two decimals. */
  readonly value: number
}

export const key = 'temperature'
/** Of one row to the next, milliseconds. */
export const gap = 1_000
/** Behind the newest row. The stores of all sizes end here, so that the last 30 days are the same span in each. */
export const end = Date.UTC(2026, 9, 1)

const seed = 34
/** Values are whole numbers of them. */
export const partsOfOne = 100
const widestStep = 8
const lowest = -2_000
const highest = 4_500

/** Rows of one sensor, one a second, oldest first: a walk of small steps, as a temperature does. */
export function* rowsOf(records: number): Generator<Row, void> {
  const random = new Random(seed)
  let hundredths = 2_000
  for (let left = records; left > 0; left--) {
    const step = random.below(2 * widestStep + 1) - widestStep
    hundredths = Math.min(highest, Math.max(lowest, hundredths + step))
    yield { datetime: end - left * gap, value: hundredths / partsOfOne }
  }
}

const progressEvery = 10_000

/** The same for a store of that name, whose filling is shown. */
export function* rowsFor(name: string, records: number): Generator<Row, void> {
  const progress = createProgress(records, done => `${name}: ${done.toLocaleString('en')} records`)
  let done = 0
  for (const row of rowsOf(records)) {
    yield row
    if (++done % progressEvery === 0 || done === records) progress(done)
  }
}
