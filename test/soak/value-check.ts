import type { Thing } from '../helpers/http-client.ts'
import type { Message } from '../helpers/mqtt-client.ts'
import { Findings } from './findings.ts'
import { type DueMessage, type Ledger, lanes } from './ledger.ts'
import { type Recognised, recognise } from './recognise.ts'
import { SequenceCheck } from './sequence-check.ts'

export interface ValueCheckSetup {
  readonly ledger: Ledger
  /** Places of the things whose every message is to come. */
  readonly places: readonly number[]
  /** Default: every key. */
  readonly keys?: readonly string[]
  /** Whether messages of `store=false` writes are to come in any case. Default true. */
  readonly missesNothing?: boolean
  /** It subscribes while writes go on: retained messages are none of its business, and it begins where it begins. */
  readonly joinsLate?: boolean
  /** How its topics name things. Default `thingId`. */
  readonly spelling?: keyof Thing
}

/** Compares the messages on `things/<ref>/values/<key>` that a subscriber gets with the ledger. */
export class ValueCheck {
  readonly findings = new Findings()
  /** Messages that were right. */
  taken = 0
  /** Messages that came again, as they may. */
  repeated = 0
  readonly #setup: ValueCheckSetup
  /** By what is due. */
  readonly #sequences = new Map<
    readonly DueMessage[],
    { name: string; sequence: SequenceCheck<DueMessage> }
  >()

  constructor(setup: ValueCheckSetup) {
    this.#setup = setup
    const { ledger, places, keys, missesNothing = true, joinsLate = false } = setup
    const isWanted = (due: DueMessage) =>
      (missesNothing || due.isKept) && (keys === undefined || keys.includes(due.key))
    for (const place of places) {
      const thing = ledger.things[place]
      if (!thing) continue
      for (const lane of lanes) {
        const due = thing.due[lane]
        const sequence = new SequenceCheck(due, isWanted, joinsLate)
        this.#sequences.set(due, { name: `thing ${place} ${lane}`, sequence })
      }
    }
  }

  /** @returns what it is, if it may come */
  take(message: Message): Recognised | undefined {
    if (message.retain && this.#setup.joinsLate) return undefined
    if (message.retain) {
      this.findings.add('retained', `${message.topic} to a subscriber of old, behind ${this.taken} messages`)
      return undefined
    }
    const recognised = recognise(this.#setup.ledger, message, this.findings)
    if (!recognised) return undefined
    const { thing, lane, place, due } = recognised
    const { keys, spelling = 'thingId' } = this.#setup
    if (!message.topic.startsWith(`things/${thing.thing[spelling]}/`)) {
      this.findings.add('altered', `${message.topic}, where the subscription has the ${spelling}`)
    }
    const { name, sequence } = this.#sequences.get(thing.due[lane]) ?? {}
    if (!sequence || keys?.includes(due.key) === false) {
      this.findings.add('unexpected', message.topic)
      return undefined
    }
    const wrong = sequence.take(place, message.dup)
    if (wrong === undefined) this.taken++
    else if (wrong === 'repeated') this.repeated++
    else {
      this.findings.add(wrong, `${name} ${place}`)
      return undefined
    }
    return recognised
  }

  /** A new connection: these may come once more, with DUP, since nothing shows that their acks were read. */
  allowAgain(messages: readonly Recognised[]): void {
    for (const [due, { sequence }] of this.#sequences) {
      const own = messages.filter(({ thing, lane }) => thing.due[lane] === due)
      sequence.allowAgain(own.map(({ place }) => place))
    }
  }

  /** Messages that are due and have not come. */
  countMissing(): number {
    return [...this.#sequences.values()].reduce((sum, { sequence }) => sum + sequence.countMissing(), 0)
  }

  /** Notes what has not come: for the end, when nothing more is expected. */
  finish(): void {
    this.#noteLost(sequence => sequence.missing())
  }

  /** Notes what was passed over: for a subscriber that was cut off. */
  finishCutOff(): void {
    this.#noteLost(sequence => sequence.passedOver())
  }

  #noteLost(missing: (sequence: SequenceCheck<DueMessage>) => readonly number[]): void {
    for (const { name, sequence } of this.#sequences.values()) {
      for (const [first, last] of rangesOf(missing(sequence))) {
        this.findings.add('lost', `${name} ${first}..${last} of ${sequence.due}`, last - first + 1)
      }
    }
  }
}

function rangesOf(places: readonly number[]): [number, number][] {
  const ranges: [number, number][] = []
  for (const place of places.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range && range[1] === place - 1) range[1] = place
    else ranges.push([place, place])
  }
  return ranges
}
