import type { Message } from '../helpers/mqtt-client.ts'
import type { Findings } from './findings.ts'
import { type DueMessage, type Lane, type Ledger, laneOf, type ThingLedger } from './ledger.ts'
import { placeOf } from './planned-write.ts'

/** A live message that was found in the ledger. */
export interface Recognised {
  readonly thing: ThingLedger
  readonly lane: Lane
  readonly place: number
  readonly due: DueMessage
}

/** Finds what was written for a message on `things/<ref>/values/<key>`, and notes what is wrong with its content. */
export function recognise(ledger: Ledger, message: Message, findings: Findings): Recognised | undefined {
  const { topic, payload } = message
  const start = topic.indexOf('/') + 1
  const thing = ledger.find(topic.slice(start, topic.indexOf('/', start)))
  const key = topic.slice(topic.lastIndexOf('/') + 1)
  const lane = laneOf(key)
  const text = payload.toString()
  const record = parse(text)
  const place = record ? placeOf(lane, record.value) : -1
  const due = thing?.due[lane][place]
  if (!thing || !record || !due) {
    findings.add('unexpected', `${topic} ${text.slice(0, 80)}`)
    return undefined
  }
  if (!isAlike(record, due) || key !== due.key) findings.add('altered', `${topic} ${text.slice(0, 120)}`)
  return { thing, lane, place, due }
}

interface LiveRecord {
  readonly key: string
  readonly value: unknown
  readonly datetime: string
  readonly geo?: unknown
}

function isAlike({ key, value, datetime, geo }: LiveRecord, due: DueMessage): boolean {
  return (
    key === due.key &&
    (typeof value === 'number' ? String(value) : JSON.stringify(value)) === due.value &&
    (geo === due.geo || JSON.stringify(geo) === JSON.stringify(due.geo)) &&
    (due.datetime === undefined ? rfc3339.test(datetime) : datetime === due.datetime)
  )
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function parse(text: string): LiveRecord | undefined {
  try {
    return JSON.parse(text) as LiveRecord
  } catch {
    return undefined
  }
}
