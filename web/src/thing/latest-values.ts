import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Api } from '../api/http.ts'
import type { ReadingRecord } from '../api/records.ts'
import type { LiveConnection } from '../live/connection.ts'
import { type Description, descriptionsOf } from './description.ts'
import { type Fix, fixOf } from './position/fix.ts'
import { keyOfTopic } from './values-topic.ts'

/** Milliseconds between two updates of the page. Users would not notice more frequent updates, and each update takes time. */
const updateInterval = 100
/** Maximum time to wait for the value of a listed resource, milliseconds. */
const patience = 2_000

type OnRecord = (record: ReadingRecord) => void

/** The latest record of every ordinary resource of a thing, updated live. */
export interface LatestValues {
  /** Keys in the order of display: by name, or by key without a name. Hidden resources are last. */
  readonly keys: ReadonlySignal<readonly string[]>
  /** Whether all values have arrived that existed when the page was opened, including the position. */
  readonly isComplete: ReadonlySignal<boolean>
  /** The latest position of the thing; undefined without one. */
  readonly position: ReadonlySignal<Fix | undefined>
  /** The latest record of a key. Each key has a signal, so that a changed value renders only that value. */
  of(key: string): ReadonlySignal<ReadingRecord> | undefined
  /** Names, unit and decimals of a resource; empty if it is not described. */
  descriptionOf(key: string): Description
  /** Calls `onRecord` for each live record of one resource. @returns a function that stops the calls */
  listen(key: string, onRecord: OnRecord): () => void
  close(): void
}

/** Subscribes to the values of a thing. */
export function watchLatestValues(api: Api, live: LiveConnection, thingId: string): LatestValues {
  const keys = signal<readonly string[]>([])
  const isComplete = signal(false)
  const position = signal<Fix>()
  const descriptions = signal(descriptionsOf(undefined))
  const come = new Set<string>()
  /** The keys that were listed when the page was opened. */
  let listed: readonly string[] | undefined
  let endOfPatience: ReturnType<typeof setTimeout> | undefined
  const abort = new AbortController()
  const latest = new Map<string, Signal<ReadingRecord>>()
  const listeners = new Map<string, Set<OnRecord>>()
  const changed = new Map<string, ReadingRecord | undefined>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let updatedAt = Number.NEGATIVE_INFINITY

  const unsubscribe = live.subscribe(`things/${thingId}/values/#`, (topic, payload, isRetained) => {
    const key = keyOfTopic(topic)
    if (key === undefined) return
    const isNew = !come.has(key)
    come.add(key)
    // A new key waits for the other keys of its write.
    const wait = isNew ? updateInterval : Math.max(0, updatedAt + updateInterval - performance.now())
    timer ??= setTimeout(update, wait)
    if (key === '$geo') position.value = fixOf(payload)
    if (key === '$meta') {
      descriptions.value = descriptionsOf(payload)
      keys.value = inOrder()
    }
    if (key.startsWith('$')) return
    const record = payload as ReadingRecord | undefined
    changed.set(key, record)
    if (record && !isRetained) for (const onRecord of listeners.get(key) ?? []) onRecord(record)
  })

  function update(): void {
    timer = undefined
    updatedAt = performance.now()
    let hasOtherKeys = false
    batch(() => {
      for (const [key, record] of changed) hasOtherKeys = set(key, record) || hasOtherKeys
      changed.clear()
      if (hasOtherKeys) keys.value = inOrder()
      if (listed?.every(key => come.has(key))) isComplete.value = true
    })
  }

  api.get<{ readonly resources: readonly string[] }>(`/v2/things/${thingId}/resources`, abort.signal).then(
    ({ resources }) => {
      listed = resources.filter(key => key !== '$settings')
      endOfPatience = setTimeout(complete, patience)
      if (timer === undefined) update()
    },
    // If the list cannot be read, the values that have arrived count as complete.
    complete,
  )

  function complete(): void {
    isComplete.value = true
  }

  function inOrder(): readonly string[] {
    const of = (key: string) => descriptions.peek().get(key)
    const rank = (key: string) => Number(of(key)?.hidden ?? false)
    const label = (key: string) => of(key)?.name ?? key
    return [...latest.keys()].sort(
      (a, b) => rank(a) - rank(b) || compare(label(a), label(b)) || compare(a, b),
    )
  }

  /** @returns whether a key was added or removed */
  function set(key: string, record: ReadingRecord | undefined): boolean {
    if (!record) return latest.delete(key)
    const known = latest.get(key)
    if (!known) {
      latest.set(key, signal(record))
      return true
    }
    // A live record may be late, and then is not the latest. With equal datetimes, the record that arrives later is the latest.
    if (record.datetime >= known.value.datetime) known.value = record
    return false
  }

  return {
    keys,
    isComplete,
    position,
    of: key => latest.get(key),
    descriptionOf: key => descriptions.value.get(key) ?? {},
    listen(key, onRecord) {
      const ofKey = listeners.get(key) ?? new Set()
      listeners.set(key, ofKey.add(onRecord))
      return () => ofKey.delete(onRecord)
    },
    close() {
      abort.abort()
      unsubscribe()
      clearTimeout(timer)
      clearTimeout(endOfPatience)
    },
  }
}

const { compare } = new Intl.Collator(undefined, { numeric: true })
