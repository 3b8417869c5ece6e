import type { Thing } from '../helpers/http-client.ts'

/**
 * What is told live of one thing in one order: the records of ordinary resources, the states of `$settings`, and those
 * of `$geo`. States are announced after the acks of their writes, so each has an order of its own.
 */
export const lanes = ['ordinary', '$settings', '$geo'] as const
export type Lane = (typeof lanes)[number]

export interface Geo {
  readonly lat: number
  readonly long: number
}

/** A live message on `values/<key>` that is due. */
export interface DueMessage {
  readonly key: string
  /** JSON text. */
  readonly value: string
  readonly geo?: Geo
  /** RFC 3339, if the sender said it. */
  readonly datetime?: string
  /** Not of a `store=false` write: who is away does not miss it. */
  readonly isKept: boolean
  /** `performance.now()` when it was sent. */
  readonly sentAt: number
}

/** A live message on `v2/things/<id>` that is due. */
export interface DueArray {
  /** The bare array as it was written. */
  readonly text: string
  readonly isKept: boolean
  readonly sentAt: number
}

/** How many messages of each lane are due. */
export type Marks = Readonly<Record<Lane, number>>

/** What was written to one thing, in write order. */
export class ThingLedger {
  readonly place: number
  readonly thing: Thing
  readonly due: Readonly<Record<Lane, DueMessage[]>> = { ordinary: [], $settings: [], $geo: [] }
  readonly arrays: DueArray[] = []
  /** Records of `broadcast=false` writes: nobody sees them but who subscribes later. */
  readonly silent: DueMessage[] = []
  /** Everything before it was acked. */
  acked: Marks = { ordinary: 0, $settings: 0, $geo: 0 }

  constructor(place: number, thing: Thing) {
    this.place = place
    this.thing = thing
  }

  get marks(): Marks {
    const { ordinary, $settings, $geo } = this.due
    return { ordinary: ordinary.length, $settings: $settings.length, $geo: $geo.length }
  }
}

export class Ledger {
  readonly things: readonly ThingLedger[]
  readonly #places = new Map<string, number>()

  constructor(things: readonly Thing[]) {
    this.things = things.map((thing, place) => new ThingLedger(place, thing))
    for (const { place, thing } of this.things) {
      this.#places.set(thing.thingId, place)
      this.#places.set(thing.thingToken, place)
    }
  }

  /** @param ref thing id or token */
  find(ref: string): ThingLedger | undefined {
    return this.things[this.#places.get(ref) ?? -1]
  }
}

export function laneOf(key: string): Lane {
  return key === '$settings' || key === '$geo' ? key : 'ordinary'
}
