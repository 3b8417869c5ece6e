import type { Append } from './contract.ts'

/** Approximate bytes of a record, a state or a document in addition to its text. */
const overhead = 32

/** Approximate size of a commit in bytes. @param documents in the encoding of the store; a null content removes the document */
export function weigh(
  write: Append | undefined,
  documents: readonly (readonly [
    name: { readonly length: number },
    content: { readonly length: number } | null,
  ])[],
): number {
  let bytes = overhead
  for (const { value } of write?.records ?? []) bytes += value.length + overhead
  for (const { record } of write?.states ?? []) bytes += (record?.value.length ?? 0) + overhead
  for (const [name, content] of documents) bytes += name.length + (content?.length ?? 0) + overhead
  return bytes
}
