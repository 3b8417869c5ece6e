import type { Commit } from './ports.ts'
import { isMagicKey } from './record/key.ts'
import type { AcceptedRecord } from './record/record.ts'

/** Approximate memory of a record or a commit without its values, bytes. */
const overhead = 64

const none: readonly AcceptedRecord[] = []

/** Approximate memory of a commit, bytes. */
export function sizeOf(commit: Commit): number {
  if (commit.outline) return commit.outline.bytes
  let bytes = overhead
  for (const { value } of commit.records) bytes += value.length + overhead
  for (const { record } of commit.latest) bytes += (record?.value.length ?? 0) + overhead
  return bytes
}

export function recordCount(commit: Commit): number {
  return commit.outline ? commit.outline.records : commit.records.length
}

/** Those records of a commit that have a magic key, in order. */
export function magicRecords(commit: Commit): readonly AcceptedRecord[] {
  return commit.outline?.hasMagic === false ? none : commit.records.filter(({ key }) => isMagicKey(key))
}
