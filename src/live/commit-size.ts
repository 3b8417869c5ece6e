import type { Commit } from '../core/ports.ts'

/** What a record, and a commit, costs beside its values. */
const overhead = 64

/** About how many bytes a commit takes while it waits. */
export function sizeOf({ records, latest }: Commit): number {
  let bytes = overhead
  for (const { value } of records) bytes += value.length + overhead
  for (const { record } of latest) bytes += (record?.value.length ?? 0) + overhead
  return bytes
}
