import type { Append } from './contract.ts'

/** What a record, a state or a document takes beside its text, bytes. */
const overhead = 32

/** About how many bytes a commit takes, with its documents as the store has them. */
export function weigh(
  write: Append | undefined,
  documents: readonly (readonly [
    name: { readonly length: number },
    content: { readonly length: number } | null,
  ])[],
): number {
  let bytes = overhead
  for (const { value } of write?.records ?? []) bytes += value.length + overhead
  if (write?.states) {
    for (const { record } of write.states) bytes += (record?.value.length ?? 0) + overhead
  }
  for (const [name, content] of documents) bytes += name.length + (content?.length ?? 0) + overhead
  return bytes
}
