/**
 * Every key of the database (see the diagrams in `docs/reference/storage.md`). Keys are bytes that LevelDB orders like memcmp. For
 * this order to be the order of reading, numbers are big-endian, and a NUL, which no name contains, ends a name inside a key.
 */

/** The letter with which each kind of key begins. The comments show the rest of the key (lengths in bytes) → the value. */
export const prefix = {
  meta: 'm',
  /** Thing NUL key → resource number. */
  resource: 'k',
  /** Thing NUL key → empty. All records of this resource were removed. */
  emptied: 'x',
  /** Key NUL thing → resource number; empty for a magic resource with a state. For finding the things that have a given key. */
  resourceByKey: 'b',
  /** Thing NUL key → state of a magic resource. */
  state: 's',
  /** Resource (4) datetime (6) write number (6) place (2) of a record → chunk that begins with this record. */
  record: 'r',
  /** Resource (4) → position (14) of the watermark; see compaction/watermark.ts. */
  packed: 'p',
  /** Resource (4) start of a UTC day (6) → rollups of the quarter hours of the day; see rollups/day-rollup.ts. */
  rollup: 'q',
  /** Resource (4) datetime (6) digest of the measurement (16) → write number; see staging/resend-check.ts. */
  duplicate: 'd',
  /** Write number (6) → entry of the commit log. */
  log: 'l',
  /** Thing NUL digest of the write id (16) → ordinal, receipt time, answer. */
  writeId: 'i',
  /** Thing NUL ordinal (6) → digest of the write id. */
  writeIdOrder: 'j',
  /** Thing NUL ordinal (6) → refused write. */
  refused: 'e',
  /** Name → document. */
  document: 'o',
} as const

const recordPrefix = prefix.record.charCodeAt(0)
const rollupPrefix = prefix.rollup.charCodeAt(0)
const duplicatePrefix = prefix.duplicate.charCodeAt(0)
export const recordKeyLength = 19
/** Offset in bytes of the position in a record key. */
const positionStart = 5
export const packedKeyLength = 5
const timeKeyLength = 11
const duplicateKeyLength = 27
const largest48Bits = 2 ** 48 - 1
const largest16Bits = 2 ** 16 - 1

/** A range of keys: `gte` inclusive, `lt` exclusive. */
export interface KeyRange {
  readonly gte: Buffer
  readonly lt: Buffer
}

/** The range of all keys of the database, since each key begins with a letter. */
export const everyKey: KeyRange = { gte: Buffer.of(0), lt: Buffer.of(255) }

/** The position of a record in the order of its resource. */
export interface Position {
  readonly datetime: number
  readonly writeNumber: number
  readonly place: number
}

export const formatKey = Buffer.from(`${prefix.meta}:format`)
export const identityKey = Buffer.from(`${prefix.meta}:identity`)
export const headKey = Buffer.from(`${prefix.meta}:head`)
export const batchKey = Buffer.from(`${prefix.meta}:batch`)

/** All keys of a kind. If `name` is given, only the keys in which this name comes first. */
export function keysOf(kind: string, name?: string): KeyRange {
  return startingWith(Buffer.from(name === undefined ? kind : `${kind}${name}\0`))
}

export function resourceKey(thingId: string, key: string): Buffer {
  return Buffer.from(`${prefix.resource}${thingId}\0${key}`)
}

/** The stored form of a resource number: 4 bytes, big-endian. */
export function numberBytes(resource: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(resource)
  return bytes
}

/** The stored form of a counter: 6 bytes, big-endian. */
export function counterBytes(counter: number): Buffer {
  const bytes = Buffer.allocUnsafe(6)
  bytes.writeUIntBE(counter, 0, 6)
  return bytes
}

/** The resource keys of the thing's ordinary resources, whose names begin with `-` or higher. Magic names begin with `$`. */
export function ordinaryResourceKeys(thingId: string): KeyRange {
  return { ...keysOf(prefix.resource, thingId), gte: resourceKey(thingId, '-') }
}

/** The thing id in a key of the form `<letter>` thing NUL rest. */
export function thingInKey(bytes: Buffer): string {
  return bytes.toString('utf8', 1, bytes.indexOf(0))
}

/** Both names in a key of the form `<letter>` thing NUL key. */
export function namesInThingKey(bytes: Buffer): { thingId: string; key: string } {
  return { thingId: thingInKey(bytes), key: secondName(bytes) }
}

export function secondName(bytes: Buffer): string {
  return bytes.toString('utf8', bytes.indexOf(0) + 1)
}

export function emptiedKey(thingId: string, key: string): Buffer {
  return Buffer.from(`${prefix.emptied}${thingId}\0${key}`)
}

export function resourceByKeyKey(key: string, thingId: string): Buffer {
  return Buffer.from(`${prefix.resourceByKey}${key}\0${thingId}`)
}

export function stateKey(thingId: string, key: string): Buffer {
  return Buffer.from(`${prefix.state}${thingId}\0${key}`)
}

export function logKey(writeNumber: number): Buffer {
  const key = Buffer.allocUnsafe(7)
  key.write(prefix.log, 'latin1')
  key.writeUIntBE(writeNumber, 1, 6)
  return key
}

export function recordKey(resource: number, datetime: number, writeNumber: number, place: number): Buffer {
  const key = Buffer.allocUnsafe(recordKeyLength)
  writeRecordKey(key, resource, datetime, writeNumber, place)
  return key
}

/** @param key `recordKeyLength` bytes */
export function writeRecordKey(
  key: Buffer,
  resource: number,
  datetime: number,
  writeNumber: number,
  place: number,
): void {
  key[0] = recordPrefix
  key.writeUInt32BE(resource, 1)
  key.writeUIntBE(datetime, 5, 6)
  key.writeUIntBE(writeNumber, 11, 6)
  key.writeUInt16BE(place, 17)
}

export function isWithin(key: Buffer, { gte, lt }: KeyRange): boolean {
  return Buffer.compare(key, gte) >= 0 && Buffer.compare(key, lt) < 0
}

/** The lowest key that sorts after this key. */
export function behind(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)])
}

/** A key that sorts after every record of the resource. */
export function lastRecordKey(resource: number): Buffer {
  return recordKey(resource, largest48Bits, largest48Bits, largest16Bits)
}

export function resourceInRecordKey(key: Buffer): number {
  return key.readUInt32BE(1)
}

/** The datetime in a record key, or in a bound of `recordKeys`. */
export function datetimeInRecordKey(key: Buffer): number {
  return key.readUIntBE(positionStart, 6)
}

export function positionInRecordKey(key: Buffer): Position {
  return {
    datetime: key.readUIntBE(5, 6),
    writeNumber: key.readUIntBE(11, 6),
    place: key.readUInt16BE(17),
  }
}

/** The position in a record key as opaque text. */
export function positionText(key: Buffer): string {
  return key.toString('base64url', positionStart)
}

/** The record key at a position. @returns undefined if the text is not a result of `positionText` */
export function keyAtPosition(resource: number, text: string): Buffer | undefined {
  const position = Buffer.from(text, 'base64url')
  return position.toString('base64url') === text ? keyOfPosition(resource, position) : undefined
}

export function positionBytes(key: Buffer): Buffer {
  return key.subarray(positionStart)
}

/** The record key at a position. @returns undefined if the length of the bytes is wrong */
export function keyOfPosition(resource: number, position: Buffer): Buffer | undefined {
  if (position.length !== recordKeyLength - positionStart) return undefined
  return Buffer.concat([recordKey(resource, 0, 0, 0).subarray(0, positionStart), position])
}

export function packedKey(resource: number): Buffer {
  const key = Buffer.allocUnsafe(packedKeyLength)
  key.write(prefix.packed, 'latin1')
  key.writeUInt32BE(resource, 1)
  return key
}

/** Record keys of a resource with datetimes from `from` (inclusive) to `to` (exclusive), milliseconds. */
export function recordKeys(resource: number, from?: number, to?: number): KeyRange {
  return timeRange(recordPrefix, resource, from, to)
}

/** @param day start of the day, milliseconds */
export function rollupKey(resource: number, day: number): Buffer {
  return timeKey(rollupPrefix, resource, day)
}

/** Rollup keys of days. `from` (inclusive) and `to` (exclusive) limit the start of the days, milliseconds. */
export function rollupKeys(resource: number, from?: number, to?: number): KeyRange {
  return timeRange(rollupPrefix, resource, from, to)
}

/** @returns undefined if the length is wrong */
export function rollupParts(key: Buffer): { resource: number; day: number } | undefined {
  if (key.length !== timeKeyLength) return undefined
  return { resource: key.readUInt32BE(1), day: key.readUIntBE(5, 6) }
}

export function duplicateKey(resource: number, datetime: number, digest: Buffer): Buffer {
  return Buffer.concat([timeKey(duplicatePrefix, resource, datetime), digest])
}

export function duplicateKeys(resource: number, from?: number, to?: number): KeyRange {
  return timeRange(duplicatePrefix, resource, from, to)
}

/** @returns undefined if the length is wrong */
export function duplicateParts(key: Buffer): { resource: number; datetime: number } | undefined {
  if (key.length !== duplicateKeyLength) return undefined
  return { resource: key.readUInt32BE(1), datetime: key.readUIntBE(5, 6) }
}

export function writeIdKey(thingId: string, digest: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${prefix.writeId}${thingId}\0`), digest])
}

/** A key of the form `<letter>` thing NUL ordinal. */
export function ordinalKey(kind: string, thingId: string, ordinal: number): Buffer {
  const name = `${kind}${thingId}\0`
  const key = Buffer.allocUnsafe(name.length + 6)
  key.write(name, 'latin1')
  key.writeUIntBE(ordinal, name.length, 6)
  return key
}

export function ordinalInKey(key: Buffer): number {
  return key.readUIntBE(key.length - 6, 6)
}

export function documentKey(name: string): Buffer {
  return Buffer.from(`${prefix.document}${name}`)
}

export function documentKeys(namePrefix: string): KeyRange {
  return startingWith(documentKey(namePrefix))
}

export function nameInDocumentKey(key: Buffer): string {
  return key.toString('utf8', prefix.document.length)
}

function timeKey(kind: number, resource: number, datetime: number): Buffer {
  const key = Buffer.allocUnsafe(timeKeyLength)
  key[0] = kind
  key.writeUInt32BE(resource, 1)
  key.writeUIntBE(datetime, 5, 6)
  return key
}

function timeRange(kind: number, resource: number, from = 0, to = largest48Bits): KeyRange {
  const clamp = (datetime: number) => Math.min(Math.max(datetime, 0), largest48Bits)
  return { gte: timeKey(kind, resource, clamp(from)), lt: timeKey(kind, resource, clamp(to)) }
}

function startingWith(start: Buffer): KeyRange {
  const end = Buffer.from(start)
  // The last byte is never 255, since `start` ends with a letter, a name or NUL.
  end[end.length - 1] = (end.at(-1) ?? 0) + 1
  return { gte: start, lt: end }
}
