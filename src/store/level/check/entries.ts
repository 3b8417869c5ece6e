import { isMagicKey, isOrdinaryKey } from '../../../core/record/key.ts'
import { dayOf } from '../chunks/day-rollup.ts'
import { isChunk, namedRecords } from '../chunks/record-chunk.ts'
import { rollupOf } from '../compaction/roll-up.ts'
import { type Entry, type Level, lastEntry, scan } from '../database/scan.ts'
import {
  batchKey,
  duplicateParts,
  everyKey,
  formatKey,
  headKey,
  identityKey,
  isWithin,
  keyOfPosition,
  keysOf,
  namesInThingKey,
  ordinalKey,
  packedKeyLength,
  positionInRecordKey,
  prefix,
  recordKey,
  recordKeyLength,
  resourceByKeyKey,
  resourceInRecordKey,
  rollupParts,
  stateKey,
  thingInKey,
} from '../keys.ts'
import { decodeCommit } from '../log/commit-log.ts'
import { decodeState } from '../states.ts'
import type { Faults } from './faults.ts'
import { faultOfChunk, faultOfLogEntry, faultOfRecord, isObject, parseJson } from './values.ts'

/** A resource that has a `k` key (`prefix.resource`). */
interface Found {
  readonly key: Buffer
  /** Whether the resource has a `b` key (`prefix.resourceByKey`). */
  isListed: boolean
  /** Whether the resource has records. */
  isWritten: boolean
}

const digestLength = 16

/** Checks each entry of a database, and compares it with related entries. */
export class EntryCheck {
  readonly counts = { things: 0, resources: 0, records: 0, states: 0, documents: 0 }
  readonly #level: Level
  readonly #faults: Faults
  readonly #resources = new Map<number, Found>()
  #head = { writeNumber: 0, nextResource: 0 }
  /** The name (`NamedRecord`) of the most recently checked record. */
  #lastRecord = keysOf(prefix.record).gte

  constructor(level: Level, faults: Faults) {
    this.#level = level
    this.#faults = faults
  }

  /** @throws Error of LevelDB if the database cannot be read */
  async run(onProgress: (done: number) => void): Promise<void> {
    await this.#readHead()
    await this.#readResources()
    let done = 0
    for await (const entries of scan({ level: this.#level }, everyKey)) {
      for (const entry of entries) {
        const check = this.#checks[entry[0].toString('latin1', 0, 1)]
        const fault = check ? await check(...entry) : 'the key is unknown in a store'
        if (fault !== undefined) this.#faults.addOf(entry[0], fault)
      }
      done += entries.length
      onProgress(done)
    }
    for (const { key, isListed, isWritten } of this.#resources.values()) {
      if (!isWritten) this.#faults.addOf(key, 'a resource without a record')
      const { key: name } = namesInThingKey(key)
      if (!isListed && !isMagicKey(name)) this.#faults.addOf(key, 'a resource that has no b key')
    }
  }

  /** The check for each first letter of a key. A check returns the fault; undefined if there is none. */
  readonly #checks: Readonly<
    Record<string, (key: Buffer, bytes: Buffer) => Promise<string | undefined> | string | undefined>
  > = {
    [prefix.meta]: key =>
      [formatKey, identityKey, headKey, batchKey].some(each => key.equals(each))
        ? undefined
        : 'the key is unknown in a store',
    // `#readResources` has already checked these keys.
    [prefix.resource]: () => undefined,
    [prefix.emptied]: (key, bytes) => this.#checkEmptied(key, bytes),
    [prefix.resourceByKey]: (key, bytes) => this.#checkByKey(key, bytes),
    [prefix.state]: (key, bytes) => this.#checkState(key, bytes),
    [prefix.record]: (key, bytes) => this.#checkRecord(key, bytes),
    [prefix.packed]: (key, bytes) => this.#checkWatermark(key, bytes),
    [prefix.rollup]: (key, bytes) => this.#checkRollup(key, bytes),
    [prefix.duplicate]: (key, bytes) => this.#checkDuplicate(key, bytes),
    [prefix.log]: (key, bytes) => this.#checkLog(key, bytes),
    [prefix.writeId]: (key, bytes) => this.#checkWriteId(key, bytes),
    [prefix.writeIdOrder]: (key, bytes) =>
      isOfThing(key, 6) && bytes.length === digestLength
        ? undefined
        : 'it is not a valid order of a write id',
    [prefix.refused]: (key, bytes) => {
      const refusal = parseJson(bytes)
      const { datetime, reason } = isObject(refusal) ? refusal : {}
      const isRefusal = isOfThing(key, 6) && typeof datetime === 'number' && typeof reason === 'string'
      return isRefusal ? undefined : 'it is not a valid refused write'
    },
    [prefix.document]: (_, bytes) => {
      this.counts.documents++
      return isObject(parseJson(bytes)) ? undefined : 'its content is not a JSON object'
    },
  }

  async #readHead(): Promise<void> {
    const bytes = await this.#level.get(headKey)
    for (const key of [formatKey, identityKey]) {
      if (!(await this.#level.get(key))) this.#faults.addOf(key, 'it is missing')
    }
    if (bytes?.length === 16) {
      this.#head = { writeNumber: bytes.readUIntBE(0, 6), nextResource: bytes.readUInt32BE(12) }
    } else if (bytes || (await lastEntry({ level: this.#level }, keysOf(prefix.resource)))) {
      this.#faults.addOf(headKey, bytes ? 'it is not a valid head: its length is wrong' : 'it is missing')
    }
  }

  async #readResources(): Promise<void> {
    let thing = ''
    for await (const entries of scan({ level: this.#level }, keysOf(prefix.resource))) {
      for (const [key, bytes] of entries) {
        const { thingId, key: name } = namesInThingKey(key)
        if (thingId !== thing) this.counts.things++
        thing = thingId
        this.counts.resources++
        const number = bytes.length === 4 ? bytes.readUInt32BE(0) : undefined
        if (!areNames(thingId, name) || number === undefined)
          this.#faults.addOf(key, 'it is not a valid resource of a thing')
        else if (this.#resources.has(number))
          this.#faults.addOf(key, `another resource has its number ${number}`)
        else if (number >= this.#head.nextResource)
          this.#faults.addOf(key, `its number ${number} is above what the head knows`)
        if (number === undefined || this.#resources.has(number)) continue
        this.#resources.set(number, { key, isListed: false, isWritten: false })
      }
    }
  }

  async #checkEmptied(key: Buffer, bytes: Buffer): Promise<string | undefined> {
    const { thingId, key: name } = namesInThingKey(key)
    return bytes.length === 0 && areNames(thingId, name) ? undefined : 'it is not a valid emptied resource'
  }

  async #checkByKey(key: Buffer, bytes: Buffer): Promise<string | undefined> {
    const { thingId: name, key: thingId } = namesInThingKey(key)
    if (!areNames(thingId, name)) return 'it is not a valid resource of a thing'
    if (isMagicKey(name)) {
      return (await this.#has(stateKey(thingId, name))) ? undefined : 'there is no state for it'
    }
    const resource = bytes.length === 4 ? this.#resources.get(bytes.readUInt32BE(0)) : undefined
    if (!resource) return 'its resource does not exist'
    const { thingId: itsThing, key: itsName } = namesInThingKey(resource.key)
    if (itsThing !== thingId || itsName !== name) return 'its number belongs to another resource'
    resource.isListed = true
    return undefined
  }

  async #checkState(key: Buffer, bytes: Buffer): Promise<string | undefined> {
    this.counts.states++
    const { thingId, key: name } = namesInThingKey(key)
    if (!areNames(thingId, name) || !isMagicKey(name)) return 'it is not a valid state of a magic resource'
    if (!(await this.#has(resourceByKeyKey(name, thingId)))) return 'it has no b key'
    return faultOfRecord(() => decodeState(name, bytes), bytes.subarray(6))
  }

  #checkRecord(key: Buffer, bytes: Buffer): string | undefined {
    if (key.length !== recordKeyLength) return 'it is not a valid record: its length is wrong'
    const resource = this.#resources.get(resourceInRecordKey(key))
    if (!resource) return 'a record without a resource'
    resource.isWritten = true
    const fault = isChunk(bytes) ? faultOfChunk([key, bytes]) : faultOfRecord(undefined, bytes)
    return fault ?? this.#checkPlaces([key, bytes])
  }

  /** Counts the records of an entry. Each record must sort after the previous record, and have the number of an existing write. */
  #checkPlaces(entry: Entry): string | undefined {
    let isInOrder = true
    let isOfWrites = true
    for (const { name } of namedRecords('', entry)) {
      this.counts.records++
      isInOrder &&= Buffer.compare(this.#lastRecord, name) < 0
      isOfWrites &&= !this.#isAhead(positionInRecordKey(name).writeNumber)
      this.#lastRecord = name
    }
    if (!isOfWrites) return 'its write number is above that of the head'
    return isInOrder ? undefined : 'its records do not sort after those of the previous entry'
  }

  #checkWatermark(key: Buffer, bytes: Buffer): string | undefined {
    const number = key.length === packedKeyLength ? key.readUInt32BE(1) : undefined
    if (number === undefined || !keyOfPosition(number, bytes))
      return 'it is not a valid watermark of a resource'
    return this.#resources.has(number) ? undefined : 'its resource does not exist'
  }

  async #checkRollup(key: Buffer, bytes: Buffer): Promise<string | undefined> {
    const parts = rollupParts(key)
    if (!parts || parts.day !== dayOf(parts.day)) return 'it is not a valid rollup of a day'
    if (!this.#resources.has(parts.resource)) return 'its resource does not exist'
    // If the records are damaged, that is reported as a separate fault.
    const isOfRecords = await rollupOf({ level: this.#level }, parts.resource, parts.day).then(
      rollup => rollup.equals(bytes),
      () => true,
    )
    return isOfRecords ? undefined : 'it differs from the records of its day'
  }

  async #checkDuplicate(key: Buffer, bytes: Buffer): Promise<string | undefined> {
    const parts = duplicateParts(key)
    if (!parts || bytes.length !== 6) return 'it is not a valid entry of the duplicate index'
    const { resource, datetime } = parts
    const number = bytes.readUIntBE(0, 6)
    const range = {
      gte: recordKey(resource, datetime, number, 0),
      lt: recordKey(resource, datetime, number + 1, 0),
    }
    // Records of this write are in the last entry before the end of the range, even if that entry begins before the range.
    const before = { gte: recordKey(resource, 0, 0, 0), lt: range.lt }
    const entry = await lastEntry({ level: this.#level }, before)
    const isDamaged = entry && isChunk(entry[1]) && faultOfChunk(entry) !== undefined
    const isThere = entry && !isDamaged && namedRecords('', entry).some(({ name }) => isWithin(name, range))
    return isThere ? undefined : 'its record does not exist'
  }

  #checkLog(key: Buffer, bytes: Buffer): string | undefined {
    if (key.length !== 7) return 'it is not a valid entry of the log: its length is wrong'
    if (this.#isAhead(key.readUIntBE(1, 6))) return 'its write number is above that of the head'
    return faultOfLogEntry(() => decodeCommit(key, bytes))
  }

  async #checkWriteId(key: Buffer, bytes: Buffer): Promise<string | undefined> {
    const known = parseJson(bytes)
    if (!isOfThing(key, digestLength) || !isObject(known)) return 'it is not a valid write id'
    const { ordinal, receivedAt, answer } = known
    const isKnown = Number.isSafeInteger(ordinal) && typeof receivedAt === 'number' && isObject(answer)
    if (!isKnown) return 'it is not a valid write id'
    const digest = await this.#level.get(ordinalKey(prefix.writeIdOrder, thingInKey(key), Number(ordinal)))
    return digest?.equals(key.subarray(-digestLength))
      ? undefined
      : 'it is missing from the order of the write ids'
  }

  #isAhead(writeNumber: number): boolean {
    return writeNumber > this.#head.writeNumber
  }

  async #has(key: Buffer): Promise<boolean> {
    return (await this.#level.get(key)) !== undefined
  }
}

function areNames(thingId: string, key: string): boolean {
  // `.` and `..` are allowed because early versions accepted them as keys.
  return /^[!-~]+$/.test(thingId) && (isOrdinaryKey(key) || /^(?:\.{1,2}|\$[!-~]+)$/.test(key))
}

/** Whether a key has the form `<letter>` thing NUL, followed by `length` bytes. */
function isOfThing(key: Buffer, length: number): boolean {
  return key.indexOf(0) === key.length - length - 1 && key.length > length + 2
}
