import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { ReadingRecord } from '../api/records.ts'
import type { LiveConnection } from '../live/connection.ts'
import { keyOfTopic } from './values-topic.ts'

/** Milliseconds between two updates of the page: more are not seen, and cost. */
const updateInterval = 100

type OnRecord = (record: ReadingRecord) => void

/** The latest record of every ordinary resource of a thing, as it changes. */
export interface LatestValues {
  /** In the order in which they are shown. */
  readonly keys: ReadonlySignal<readonly string[]>
  /** One signal for each, so that a value that changes renders nothing but itself. */
  of(key: string): ReadonlySignal<ReadingRecord> | undefined
  /** Live records of one resource, each as it comes. @returns stops it */
  listen(key: string, onRecord: OnRecord): () => void
  close(): void
}

/** Subscribes to the values of a thing. */
export function watchLatestValues(live: LiveConnection, thingId: string): LatestValues {
  const keys = signal<readonly string[]>([])
  const latest = new Map<string, Signal<ReadingRecord>>()
  const listeners = new Map<string, Set<OnRecord>>()
  const changed = new Map<string, ReadingRecord | undefined>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let updatedAt = 0

  const unsubscribe = live.subscribe(`things/${thingId}/values/#`, (topic, payload, isRetained) => {
    const key = keyOfTopic(topic)
    if (key === undefined || key.startsWith('$')) return
    const record = payload as ReadingRecord | undefined
    changed.set(key, record)
    timer ??= setTimeout(update, Math.max(0, updatedAt + updateInterval - Date.now()))
    if (record && !isRetained) for (const onRecord of listeners.get(key) ?? []) onRecord(record)
  })

  function update(): void {
    timer = undefined
    updatedAt = Date.now()
    let hasOtherKeys = false
    batch(() => {
      for (const [key, record] of changed) hasOtherKeys = set(key, record) || hasOtherKeys
      changed.clear()
      if (hasOtherKeys) keys.value = [...latest.keys()].sort(inOrder)
    })
  }

  /** @returns whether there is one key more or less */
  function set(key: string, record: ReadingRecord | undefined): boolean {
    if (!record) return latest.delete(key)
    const known = latest.get(key)
    if (!known) {
      latest.set(key, signal(record))
      return true
    }
    // A late record is live, too, but not the latest; of equal datetimes the later one is.
    if (record.datetime >= known.value.datetime) known.value = record
    return false
  }

  return {
    keys,
    of: key => latest.get(key),
    listen(key, onRecord) {
      const ofKey = listeners.get(key) ?? new Set()
      listeners.set(key, ofKey.add(onRecord))
      return () => ofKey.delete(onRecord)
    },
    close() {
      unsubscribe()
      clearTimeout(timer)
    },
  }
}

const { compare: inOrder } = new Intl.Collator(undefined, { numeric: true })
