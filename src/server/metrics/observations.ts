import type { Observer, WriteDoor, WriteOutcome } from '../../core/observer.ts'
import type { Reason } from '../../errors.ts'
import { Distribution } from './distribution.ts'

interface Count {
  writes: number
  records: number
}

/** Bucket bounds for durations, seconds. Most acks take milliseconds, and none takes longer than `storeTimeout`. */
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const
const changes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] as const

/** Counts the events of the service since its start. */
export class Observations implements Observer {
  readonly acks = {
    http: new Distribution(seconds, { door: 'http' }),
    mqtt: new Distribution(seconds, { door: 'mqtt' }),
  }
  readonly commitChanges = new Distribution(changes)
  readonly commitSeconds = new Distribution(seconds)
  readonly fanOut = new Distribution(seconds)
  readonly writes: Readonly<Record<WriteDoor, Readonly<Record<WriteOutcome, Count>>>> = {
    http: noWrites(),
    mqtt: noWrites(),
    will: noWrites(),
    host: noWrites(),
  }
  readonly writeRefusals: Readonly<Record<WriteDoor | 'magic', Tally<Reason>>> = {
    http: new Tally(),
    mqtt: new Tally(),
    will: new Tally(),
    host: new Tally(),
    magic: new Tally(),
  }
  /** HTTP error answers, by reason. */
  readonly httpErrors = new Tally<Reason>()
  /** Open MQTT connections, by transport. */
  readonly connections = { mqtt: 0, websocket: 0 }
  /** Answered CONNECT packets, by CONNACK return code of MQTT 3.1.1, whatever the version of the client. */
  readonly connects = new Tally<string>([0, 1, 2, 3, 4, 5].map(code => [String(code), 0] as const))
  /** MQTT connections that ended with an error, by reason; `other` for an error that is not a `ThingwireError`. */
  readonly brokenOff = new Tally<Reason | 'other'>([['other', 0]])
  storedRecords = 0
  droppedMessages = 0
  relayedMessages = 0

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
    this.acks[door].observe(seconds)
  }

  committed(changes: number, seconds: number): void {
    this.commitChanges.observe(changes)
    this.commitSeconds.observe(seconds)
  }

  fannedOut(seconds: number): void {
    this.fanOut.observe(seconds)
  }

  relayed(): void {
    this.relayedMessages++
  }

  dropped(messages: number): void {
    this.droppedMessages += messages
  }
}

function noWrites(): Record<WriteOutcome, Count> {
  const none = () => ({ writes: 0, records: 0 })
  return { stored: none(), unstored: none(), repeated: none(), dry_run: none() }
}

class Tally<Name extends string> extends Map<Name, number> {
  add(name: Name): void {
    this.set(name, (this.get(name) ?? 0) + 1)
  }
}
