import type { Observer, WriteDoor, WriteOutcome } from '../../core/observer.ts'
import type { Reason } from '../../errors.ts'
import { Distribution } from './distribution.ts'
import { Tally } from './tally.ts'

/** Writes of one door that ended alike. */
interface Count {
  writes: number
  records: number
}

const writeDoors = ['http', 'mqtt', 'will'] as const satisfies readonly WriteDoor[]
const refusingDoors = [...writeDoors, 'magic'] as const
/** Seconds, around what is promised: an ack within milliseconds, and at the latest after `storeTimeout`. */
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const
const changes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] as const

/** What was told of the service since its start. */
export class Observations implements Observer {
  readonly acks = new Distribution({
    name: 'thingwire_ack_duration_seconds',
    help: 'Time from the receipt of a write to its 201, PUBACK or PUBREC.',
    bounds: seconds,
  })
  readonly commitChanges = new Distribution({
    name: 'thingwire_commit_writes',
    help: 'Writes and document changes in one commit of the store.',
    bounds: changes,
  })
  readonly commitSeconds = new Distribution({
    name: 'thingwire_commit_duration_seconds',
    help: 'Time for one commit of the store.',
    bounds: seconds,
  })
  readonly fanOut = new Distribution({
    name: 'thingwire_fan_out_lag_seconds',
    help: 'Time from a commit until the socket of a subscriber has its live messages.',
    bounds: seconds,
  })
  readonly writes: Readonly<Record<WriteDoor, Readonly<Record<WriteOutcome, Count>>>> = {
    http: noWrites(),
    mqtt: noWrites(),
    will: noWrites(),
  }
  readonly writeRefusals = perDoor(() => new Tally<Reason>())
  readonly httpErrors = new Tally<Reason>()
  storedRecords = 0
  droppedMessages = 0
  readonly #acks = { http: this.acks.series({ door: 'http' }), mqtt: this.acks.series({ door: 'mqtt' }) }
  readonly #commitChanges = this.commitChanges.series()
  readonly #commitSeconds = this.commitSeconds.series()
  readonly #fanOut = this.fanOut.series()

  wrote(door: WriteDoor, outcome: WriteOutcome, records: number): void {
    const count = this.writes[door][outcome]
    count.writes++
    count.records += records
  }

  refusedWrite(door: WriteDoor | 'magic', reason: Reason): void {
    this.writeRefusals[door].add(reason)
  }

  stored(records: number): void {
    this.storedRecords += records
  }

  acknowledged(door: 'http' | 'mqtt', seconds: number): void {
    this.#acks[door].observe(seconds)
  }

  committed(changes: number, seconds: number): void {
    this.#commitChanges.observe(changes)
    this.#commitSeconds.observe(seconds)
  }

  fannedOut(seconds: number): void {
    this.#fanOut.observe(seconds)
  }

  dropped(messages: number): void {
    this.droppedMessages += messages
  }

  /** A request was answered with an error. */
  answeredError(reason: Reason): void {
    this.httpErrors.add(reason)
  }
}

function noWrites(): Record<WriteOutcome, Count> {
  const none = () => ({ writes: 0, records: 0 })
  return { stored: none(), unstored: none(), repeated: none(), dry_run: none() }
}

function perDoor<T>(make: () => T): Readonly<Record<(typeof refusingDoors)[number], T>> {
  return Object.fromEntries(refusingDoors.map(door => [door, make()])) as Record<WriteDoor | 'magic', T>
}
