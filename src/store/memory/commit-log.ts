import type { Commit, LogQuery, RecordStore } from '../contract.ts'
import { lengthOfPage } from './time-line.ts'

type IsWanted = Parameters<RecordStore['logWhen']>[0]

/** The commits that someone may have to read again. */
export class MemoryCommitLog {
  isWanted: IsWanted = () => false
  /** By write number, oldest first. */
  readonly #commits = new Map<number, Commit>()

  add(commit: Commit): void {
    const { thingId, records, latest, stored, broadcast } = commit
    if (!stored || (records.length === 0 && latest.length === 0)) return
    if (this.isWanted({ thingId, records, broadcast })) this.#commits.set(commit.writeNumber, commit)
  }

  read({ after, before, order, limit, isOf = () => true }: LogQuery): Commit[] {
    const inRange = [...this.#commits.values()].filter(
      ({ writeNumber, thingId }) => writeNumber > after && writeNumber < before && isOf(thingId),
    )
    if (order === 'desc') inRange.reverse()
    return inRange.slice(0, Math.min(limit, lengthOfPage(inRange, lengthOf)))
  }

  trim(writeNumbers: readonly number[]): void {
    for (const writeNumber of writeNumbers) this.#commits.delete(writeNumber)
  }

  removeThing(thingId: string): void {
    for (const commit of this.#commits.values()) {
      if (commit.thingId === thingId) this.#commits.delete(commit.writeNumber)
    }
  }
}

function lengthOf({ records, latest }: Commit): number {
  const texts = [...records, ...latest.flatMap(({ record }) => record ?? [])]
  return texts.reduce((characters, { value }) => characters + value.length, 0)
}
