import { isDeepStrictEqual } from 'node:util'
import type { Latest, RecordStore } from '../core/ports.ts'
import { latestDatetime } from '../core/record/datetime.ts'
import { isProblem, type Problem } from '../core/record/problem.ts'
import type { StoredRecord } from '../core/record/record.ts'
import { valueText } from '../core/record/value.ts'
import type { MagicChange, MagicResource, MagicState } from './magic-resource.ts'
import type { MagicRegistry } from './registry.ts'

/** A draft is full if the states it has read and created have this many characters, to limit a commit's size and duration. */
const fullDraft = 1024 * 1024
const changeOverhead = 256

export interface StateDraftParts {
  readonly records: Pick<RecordStore, 'state'>
  readonly magic: MagicRegistry
  /** Called with unexpected errors, such as those that a magic resource throws. */
  readonly onDefect: (error: unknown) => void
}

const defect: Problem = {
  field: 'value',
  reason: 'internal_error',
  message: 'the magic resource failed on this record',
}

/** New states of one thing before their commit. Each change is applied to the result of the previous change. */
export class StateDraft {
  /** The states to store, one for each change, in order. */
  readonly states: Latest[] = []
  readonly #thingId: string
  readonly #parts: StateDraftParts
  readonly #known: Map<string, KnownState>
  #weight = 0

  /** @param known states to begin with; all other states are read from the store */
  constructor(thingId: string, parts: StateDraftParts, known: KnownStates = new Map()) {
    this.#thingId = thingId
    this.#parts = parts
    this.#known = new Map(known)
  }

  /** The states after the changes so far. */
  get known(): KnownStates {
    return this.#known
  }

  /** Whether further changes need another draft. */
  get isFull(): boolean {
    return this.#weight >= fullDraft
  }

  /** @returns a problem for the list of refused writes @throws ThingwireError if the store fails */
  async apply(change: MagicChange): Promise<Problem | undefined> {
    // A host may have restarted without one of its resources.
    const resource = this.#parts.magic.find(change.key)
    if (!resource) return undefined
    const known = await this.#stateOf(resource.key)
    const applied = this.#applied(resource, known.state, change)
    this.#weight += changeOverhead + known.length
    if (applied === undefined || 'reason' in applied) return applied
    this.#put(applied.record, applied.state)
    return undefined
  }

  /** @param left the record that becomes the new state, if there is one @throws ThingwireError if the store fails */
  async remove(key: string, left?: MagicChange): Promise<void> {
    const before = await this.#stateOf(key)
    if (!before.state) return
    this.#known.set(key, { state: undefined, length: 0 })
    if (left) await this.apply(left)
    const { state } = await this.#stateOf(key)
    if (!state) this.states.push({ key, record: undefined })
    // An unchanged state is not delivered.
    else if (isDeepStrictEqual(state, before.state)) this.states.pop()
  }

  /** If one magic resource throws, the other resources must still work. */
  #applied(resource: MagicResource, before: MagicState | undefined, change: MagicChange) {
    try {
      const state = resource.apply(before, change)
      if (state === undefined || isProblem(state)) return state
      const record = recordOf(resource.key, state)
      return isProblem(record) ? record : { state, record }
    } catch (error) {
      this.#parts.onDefect(error)
      return defect
    }
  }

  #put(record: StoredRecord, state: MagicState): void {
    this.#weight += record.value.length
    this.#known.set(record.key, { state, length: record.value.length })
    this.states.push({ key: record.key, record })
  }

  async #stateOf(key: string): Promise<KnownState> {
    const known = this.#known.get(key)
    if (known) return known
    const stored = await this.#parts.records.state(this.#thingId, key)
    const read = { state: stored && stateOf(stored), length: stored?.value.length ?? 0 }
    this.#known.set(key, read)
    return read
  }
}

export type KnownStates = ReadonlyMap<string, KnownState>

interface KnownState {
  readonly state: MagicState | undefined
  /** Length of the state's JSON, characters. */
  readonly length: number
}

export function stateOf({ value, datetime }: StoredRecord): MagicState {
  return { value: JSON.parse(value), datetime }
}

function recordOf(key: string, { value, datetime }: MagicState): StoredRecord | Problem {
  if (!Number.isInteger(datetime) || datetime < 0 || datetime > latestDatetime) {
    throw new RangeError(`the new state of ${key} has an invalid datetime: ${datetime}`)
  }
  const text = valueText(value)
  if (typeof text !== 'string' && text.reason === 'invalid_value') {
    throw new RangeError(`the new state of ${key} has a value that JSON cannot represent`)
  }
  return typeof text === 'string' ? { key, datetime, value: text } : text
}
