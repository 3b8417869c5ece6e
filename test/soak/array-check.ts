import type { Message } from '../helpers/mqtt-client.ts'
import { Findings } from './findings.ts'
import type { DueArray, Ledger } from './ledger.ts'
import { SequenceCheck } from './sequence-check.ts'

/** Compares the messages on `v2/things/<ref>` that a live subscriber gets with the ledger: byte by byte. */
export class ArrayCheck {
  readonly findings = new Findings()
  taken = 0
  readonly #ledger: Ledger
  readonly #sequences = new Map<number, SequenceCheck<DueArray>>()

  constructor(ledger: Ledger, places: readonly number[]) {
    this.#ledger = ledger
    for (const place of places) {
      const thing = ledger.things[place]
      if (thing) this.#sequences.set(place, new SequenceCheck(thing.arrays, () => true))
    }
  }

  /** @returns what it is, if it is right */
  take(message: Message): DueArray | undefined {
    if (message.retain) this.findings.add('retained', message.topic)
    const thing = this.#ledger.find(message.topic.split('/')[2] ?? '')
    const sequence = this.#sequences.get(thing?.place ?? -1)
    const text = message.payload.toString()
    if (!thing || !sequence) {
      this.findings.add('unexpected', message.topic)
      return undefined
    }
    const place = placeAround(thing.arrays, text, sequence.next)
    const wrong = place < 0 ? 'altered' : sequence.take(place)
    if (wrong === undefined) this.taken++
    else if (wrong !== 'repeated')
      this.findings.add(wrong, `thing ${thing.place} write ${place} ${text.slice(0, 80)}`)
    return wrong ? undefined : thing.arrays[place]
  }

  countMissing(): number {
    return [...this.#sequences.values()].reduce((sum, sequence) => sum + sequence.countMissing(), 0)
  }

  /** Notes what has not come: for the end, when nothing more is expected. */
  finish(): void {
    for (const [place, sequence] of this.#sequences) {
      for (const missing of sequence.missing()) this.findings.add('lost', `thing ${place} write ${missing}`)
    }
  }
}

/** Every array has a text of its own, since it carries places. */
function placeAround(arrays: readonly DueArray[], text: string, next: number): number {
  return arrays[next]?.text === text ? next : arrays.findIndex(array => array.text === text)
}
