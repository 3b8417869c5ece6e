import type { Commit } from '../../../src/core/ports.ts'
import { formatDatetime } from '../../../src/core/record/datetime.ts'
import type { StoredRecord } from '../../../src/core/record/record.ts'
import type { Thing } from '../../helpers/http-client.ts'
import type { DoorService } from '../door-service.ts'

interface Latest {
  readonly payload: string
  /** Datetime, write number and place. */
  readonly order: readonly [number, number, number]
}

/**
 * What the store tells of one thing, from the first write on: every message that a subscriber may get, and what is
 * latest of each resource behind each of them. In plain words, beside what src makes of it.
 */
export class ToldLog {
  /** Messages on `values/<key>`, in order. */
  readonly told: { readonly key: string; readonly payload: string }[] = []
  /** By the number of messages told so far, what is latest of each resource, as payload. */
  readonly #latestAfter: ReadonlyMap<string, string>[] = [new Map()]
  readonly #latest = new Map<string, Latest>()

  constructor(service: DoorService, { thingId }: Thing) {
    service.things.records.onCommit(commit => {
      if (commit.thingId === thingId) this.#take(commit)
    })
  }

  /** What is latest of the resources that are meant, by key, after so many messages about these resources. */
  latestAfter(count: number, isMeant: (key: string) => boolean): Record<string, string> {
    let place = 0
    for (let seen = 0; seen < count; place++) if (isMeant(this.told[place]?.key ?? '')) seen++
    const latest = this.#latestAfter[place] ?? new Map<string, string>()
    return Object.fromEntries([...latest].filter(([key]) => isMeant(key)))
  }

  #take({ writeNumber, records, latest, stored, broadcast }: Commit): void {
    if (!broadcast) throw new Error('a commit that is not told would be in no message')
    const before = this.told.length
    for (const record of records) {
      if (record.key.startsWith('$')) continue
      this.told.push({ key: record.key, payload: payloadOf(record) })
      const order = [record.datetime, writeNumber, record.place] as const
      const present = this.#latest.get(record.key)
      if (stored && (!present || isAfter(order, present.order))) {
        this.#latest.set(record.key, { payload: payloadOf(record), order })
      }
    }
    for (const { key, record } of latest) {
      this.told.push({ key, payload: record ? payloadOf(record) : '' })
      // Nothing that is left of the resource is after it.
      if (record) this.#latest.set(key, { payload: payloadOf(record), order: [record.datetime, 0, 0] })
      else this.#latest.delete(key)
    }
    // A retained message cannot be between two messages of one commit.
    const latestNow = new Map([...this.#latest].map(([key, { payload }]) => [key, payload]))
    for (let count = before; count < this.told.length; count++) this.#latestAfter.push(latestNow)
  }
}

function payloadOf({ key, value, datetime, geo }: StoredRecord): string {
  return JSON.stringify({
    key,
    value: JSON.parse(value),
    datetime: formatDatetime(datetime),
    ...(geo && { geo }),
  })
}

function isAfter(a: Latest['order'], b: Latest['order']): boolean {
  const [first, second, third] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
  return (first || second || third) > 0
}
