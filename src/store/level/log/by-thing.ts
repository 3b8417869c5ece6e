import { partitionPoint } from '../../../core/algorithms/partition-point.ts'
import type { LogQuery } from '../../contract.ts'

/** More than these are not put in order, which would take longer than a millisecond. */
const mostCandidates = 10_000

/** Which commits of the log are of a thing: 8 bytes for each. */
export class LogByThing {
  /** Write numbers, ascending, by thing id. */
  readonly #numbers = new Map<string, number[]>()

  /** @param writeNumber not below any that were added before */
  add(thingId: string, writeNumber: number): void {
    const numbers = this.#numbers.get(thingId)
    if (!numbers) this.#numbers.set(thingId, [writeNumber])
    else if (numbers.at(-1) !== writeNumber) numbers.push(writeNumber)
  }

  /** @param earlier those below all that were added until now; what else is in it is known */
  addEarlier(earlier: LogByThing): void {
    for (const [thingId, all] of earlier.#numbers) {
      const known = this.#numbers.get(thingId) ?? []
      const before = known[0] === undefined ? all.length : indexFrom(all, known[0])
      this.#numbers.set(thingId, [...all.slice(0, before), ...known])
    }
  }

  of(thingId: string): readonly number[] {
    return this.#numbers.get(thingId) ?? []
  }

  /** @param writeNumbers in any order */
  delete(writeNumbers: readonly number[]): void {
    const gone = new Set(writeNumbers)
    let [lowest, highest] = [Infinity, 0]
    for (const each of gone) [lowest, highest] = [Math.min(lowest, each), Math.max(highest, each)]
    for (const [thingId, numbers] of this.#numbers) {
      const [from, to] = [indexFrom(numbers, lowest), indexFrom(numbers, highest + 1)]
      if (from === to) continue
      const left = numbers.slice(from, to).filter(each => !gone.has(each))
      const all = [...numbers.slice(0, from), ...left, ...numbers.slice(to)]
      if (all.length > 0) this.#numbers.set(thingId, all)
      else this.#numbers.delete(thingId)
    }
  }

  /** The first that a query asks for, in its order, at most `limit`; undefined: there are too many to put them in order. */
  select({ after, before, order, limit, isOf }: Required<LogQuery>): number[] | undefined {
    const candidates: number[] = []
    for (const [thingId, numbers] of this.#numbers) {
      const [from, to] = [indexFrom(numbers, after + 1), indexFrom(numbers, before)]
      if (from >= to || !isOf(thingId)) continue
      const some =
        order === 'asc'
          ? numbers.slice(from, Math.min(to, from + limit))
          : numbers.slice(Math.max(from, to - limit), to)
      if (candidates.length + some.length > mostCandidates) return undefined
      candidates.push(...some)
    }
    candidates.sort(order === 'asc' ? (a, b) => a - b : (a, b) => b - a)
    return candidates.slice(0, limit)
  }
}

/** Where the first is that is not below `least`. */
function indexFrom(ascending: readonly number[], least: number): number {
  return partitionPoint(ascending, each => each < least)
}
