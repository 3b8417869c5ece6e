import type { MagicResource } from '../../../src/magic/magic-resource.ts'
import { wayPattern } from '../writes.ts'

/** State of `$count`: what was applied, so that what is applied twice, or out of turn, is seen. */
export interface Count {
  readonly applied: number
  /** Of each writer the last value. */
  readonly last: Readonly<Record<string, string>>
  /** Values that came when their writer's last was not the one before them in time. */
  readonly disordered: readonly string[]
}

const countedValue = new RegExp(`^[a-z]+(\\d+)-${wayPattern}-(\\d+)-(\\d+)-(\\d+)$`)

/** `$count`, a magic resource of a host: counts its records, of which each writer numbers its own. */
export const counter: MagicResource = {
  key: '$count',
  check({ value }) {
    if (typeof value === 'string' && countedValue.test(value)) return { value }
    return { field: 'value', reason: 'invalid_value', message: 'value must be that of a planned write' }
  },
  apply(state, { value: given, receivedAt: datetime }) {
    const value = String(given)
    const { applied, last, disordered } = (state?.value ?? noCount) as Count
    const [, , writer = ''] = countedValue.exec(value) ?? []
    const before = last[writer]
    const isNext = before === undefined || isBehind(value, before)
    const count: Count = {
      applied: applied + 1,
      last: { ...last, [writer]: value },
      disordered: isNext ? disordered : [...disordered, value].slice(-10),
    }
    return { value: count, datetime }
  },
}

const noCount: Count = { applied: 0, last: {}, disordered: [] }

/** Run, number of the write in the run, place in the write. */
function isBehind(value: string, last: string): boolean {
  const numbers = (text: string) => (countedValue.exec(text) ?? []).slice(1).map(Number)
  const [run = 0, , number = 0, index = 0] = numbers(value)
  const [lastRun = 0, , lastNumber = 0, lastIndex = 0] = numbers(last)
  return run - lastRun > 0 || (run === lastRun && (number - lastNumber || index - lastIndex) > 0)
}
