import type { Action } from '../../../../src/conformance/histories.ts'

/** A datetime and a value. */
type Name = string

interface Kept {
  readonly datetime: number
  isCertain: boolean
  /** In one write: a record that comes again in another is the same (contract §4 (a)). */
  most: number
}

/** Receipt times are later than all datetimes of histories. */
const firstReceipt = Date.UTC(2026, 0, 1)

/** Which records with datetimes of their own a history has, as far as it was answered. */
export class ExpectedRecords {
  readonly #kept = new Map<Name, Kept>()
  /** What an append that was not answered has brought: all of it or nothing. */
  #unanswered: Name[] = []

  done(action: Action): void {
    this.#take(action, true)
  }

  /** The action was begun, and not answered. */
  begun(action: Action): void {
    this.#take(action, false)
  }

  /** Compares with what is stored, which is what is certain from now on. @returns what is wrong */
  compare(records: readonly { readonly datetime: number; readonly value: string }[]): string[] {
    const stored = new Map<Name, number>()
    for (const { datetime, value } of records) {
      if (datetime >= firstReceipt) continue
      const name = nameOf(datetime, value)
      stored.set(name, (stored.get(name) ?? 0) + 1)
    }
    const faults: string[] = []
    for (const [name, count] of stored) {
      const most = this.#kept.get(name)?.most ?? 0
      if (count > most) faults.push(`${name} is there ${count} times, of at most ${most}`)
    }
    for (const [name, { isCertain }] of this.#kept) {
      if (isCertain && !stored.has(name)) faults.push(`${name} is missing`)
    }
    const brought = this.#unanswered.filter(name => stored.has(name)).length
    if (brought > 0 && brought < this.#unanswered.length) {
      faults.push(`${brought} records of an append of ${this.#unanswered.length}`)
    }
    this.#unanswered = []
    for (const [name, kept] of this.#kept) {
      if (stored.has(name)) kept.isCertain = true
      else this.#kept.delete(name)
    }
    return faults
  }

  #take(action: Action, isCertain: boolean): void {
    if ('append' in action) this.#append(action.append.records, isCertain)
    else if ('remove' in action) this.#remove(action.remove.from, action.remove.to, isCertain)
    else this.#removeOld(action.removeOld, isCertain)
  }

  #append(
    records: readonly { readonly datetime: number; readonly value: string; readonly explicit: boolean }[],
    isCertain: boolean,
  ): void {
    const counts = new Map<Name, number>()
    for (const { datetime, value, explicit } of records) {
      if (!explicit) continue
      const name = nameOf(datetime, value)
      const most = (counts.get(name) ?? 0) + 1
      counts.set(name, most)
      const kept = this.#kept.get(name)
      if (!kept && !isCertain && most === 1) this.#unanswered.push(name)
      if (!kept) this.#kept.set(name, { datetime, isCertain, most })
      else {
        kept.isCertain ||= isCertain
        kept.most = Math.max(kept.most, most)
      }
    }
  }

  /** @param to exclusive */
  #remove(from: number, to: number, isCertain: boolean): void {
    for (const [name, kept] of this.#kept) {
      if (kept.datetime < from || kept.datetime >= to) continue
      if (isCertain) this.#kept.delete(name)
      else kept.isCertain = false
    }
  }

  /** The newest record stays, however old it is. Which one that is of those with its datetime, or with a receipt time, is not known here. */
  #removeOld(before: number, isCertain: boolean): void {
    const newest = Math.max(...[...this.#kept.values()].map(({ datetime }) => datetime))
    this.#remove(0, Math.min(before, newest), isCertain)
    this.#remove(newest, before, false)
  }
}

function nameOf(datetime: number, value: string): Name {
  return `${datetime} ${value}`
}
