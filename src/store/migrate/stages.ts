import { isMagicKey } from '../../core/record/key.ts'
import type { Document } from '../contract.ts'
import type { Entry } from '../level/database/scan.ts'
import {
  type KeyRange,
  keysOf,
  nameInDocumentKey,
  namesInThingKey,
  positionInRecordKey,
  prefix,
  resourceInRecordKey,
  thingInKey,
} from '../level/keys.ts'
import { decodeCommit } from '../level/log/commit-log.ts'
import { decodeState } from '../level/states.ts'
import { decodeRecord } from '../record-value.ts'
import type { Keys } from '../redis/keys.ts'
import { commitText } from '../redis/log/logged-commit.ts'
import { encodeMember, encodeNumberedState, encodePayload, identityOf } from '../redis/record-member.ts'
import type { Argument } from '../redis/script.ts'
import { comparedOneByOne } from '../resend.ts'
import type { Source } from './source.ts'
import { movedWriteIds } from './write-ids.ts'

export type Command = readonly Argument[]

export interface Move {
  readonly source: Source
  readonly keys: Keys
  /** Converts a write number, without changing the order of write numbers. */
  readonly numberOf: (writeNumber: number) => number
  /** Converts a document; returns undefined if the document is not to be moved. */
  readonly documentOf: (name: string, document: Document) => Document | undefined
}

/** How one kind of entry is moved. */
export interface Stage {
  /** Range of the keys in the embedded store. */
  readonly range: KeyRange
  /** Reads the entries from the embedded store. Default: `Source.entries`. */
  readonly read?: (source: Source, after?: Buffer) => AsyncIterable<readonly Entry[]>
  /** The commands that put the entries into Redis. @param entries consecutive entries of the range */
  readonly commands: (entries: readonly Entry[], move: Move) => Command[] | Promise<Command[]>
}

const records: Stage = {
  range: keysOf(prefix.record),
  read: (source, after) => source.records(keysOf(prefix.record), after),
  async commands(entries, { source, keys, numberOf }) {
    const ofResources = new Map<number, { members: Argument[]; crowd: Argument[] }>()
    const [first] = entries
    let before = first ? await source.countBefore(first[0], comparedOneByOne) : 0
    let [resource, datetime] = first
      ? [resourceInRecordKey(first[0]), positionInRecordKey(first[0]).datetime]
      : []
    for (const [key, bytes] of entries) {
      const position = positionInRecordKey(key)
      if (resourceInRecordKey(key) !== resource || position.datetime !== datetime) before = 0
      resource = resourceInRecordKey(key)
      datetime = position.datetime
      const { members, crowd } = ofResources.get(resource) ?? { members: [], crowd: [] }
      ofResources.set(resource, { members, crowd })
      const payload = encodePayload(decodeRecord('', datetime, bytes))
      members.push(datetime, encodeMember(numberOf(position.writeNumber), position.place, payload))
      // From the 257th record of a datetime on, records are also put into the index `Keys.crowd`.
      if (before >= comparedOneByOne) crowd.push(datetime, duplicateEntry(datetime, payload))
      before++
    }
    return [...ofResources].flatMap(([resource, { members, crowd }]): Command[] => {
      const name = source.resources.get(resource)
      // A crash has left these records of a removed resource.
      if (!name) return []
      const { thingId, key } = name
      return [
        ['ZADD', keys.records(thingId, key), ...members],
        ...(crowd.length > 0 ? [['ZADD', keys.crowd(thingId, key), ...crowd]] : []),
        ['ZADD', keys.resources(thingId), 0, key],
        ['ZADD', keys.things, 0, thingId],
        ...(isMagicKey(key) ? [] : [['ZADD', keys.thingsWith(key), 0, thingId]]),
      ]
    })
  },
}

/** The embedded store does not record which write put a state. Uses the newest write number, which every snapshot includes. */
const states: Stage = {
  range: keysOf(prefix.state),
  commands: (entries, { source, keys, numberOf }) =>
    entries.flatMap(([name, bytes]) => {
      const { thingId, key } = namesInThingKey(name)
      const state = encodeNumberedState(numberOf(source.counters.writeNumber), decodeState(key, bytes))
      return [
        ['HSET', keys.states(thingId), key, state],
        ['ZADD', keys.thingsWith(key), 0, thingId],
        ['ZADD', keys.things, 0, thingId],
      ]
    }),
}

const emptied: Stage = {
  range: keysOf(prefix.emptied),
  commands: (entries, { keys }) =>
    entries.map(([name]) => {
      const { thingId, key } = namesInThingKey(name)
      return ['SADD', keys.emptied(thingId), key]
    }),
}

const writeIds: Stage = {
  range: keysOf(prefix.writeIdOrder),
  async commands(entries, { source, keys }) {
    const moved = await movedWriteIds(source, entries)
    return moved.flatMap(({ thingId, digest, ordinal, text }): Command[] => [
      ['HSET', keys.writeIds(thingId), digest, text, '#', ordinal],
      ['ZADD', keys.writeIdOrder(thingId), ordinal, digest],
    ])
  },
}

const refused: Stage = {
  range: keysOf(prefix.refused),
  commands: (entries, { keys }) =>
    entries.map(([name, json]) => ['LPUSH', keys.refused(thingInKey(name)), json]),
}

const log: Stage = {
  range: keysOf(prefix.log),
  commands: (entries, { keys, numberOf }) =>
    entries.map(([key, bytes]) => {
      const commit = decodeCommit(key, bytes)
      const id = `${numberOf(commit.writeNumber)}-0`
      return ['XADD', keys.log, id, 't', commit.thingId, 'c', commitText(commit)]
    }),
}

const documents: Stage = {
  range: keysOf(prefix.document),
  commands: (entries, { keys, documentOf }) =>
    entries.flatMap(([key, bytes]): Command[] => {
      const name = nameInDocumentKey(key)
      const document = documentOf(name, JSON.parse(bytes.toString()) as Document)
      if (!document) return []
      return [
        ['HSET', keys.documents, name, JSON.stringify(document)],
        ['ZADD', keys.documentNames, 0, name],
      ]
    }),
}

/** All stages, in the order in which they run. */
export const stages: readonly Stage[] = [records, states, emptied, writeIds, refused, log, documents]

function duplicateEntry(datetime: number, payload: Buffer): Buffer {
  const head = Buffer.allocUnsafe(6)
  head.writeUIntBE(datetime, 0, 6)
  return Buffer.concat([head, identityOf(payload)])
}
