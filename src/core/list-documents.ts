import { readSlices } from './async/slices.ts'
import type { Document, DocumentStore } from './ports.ts'

const pageSize = 1_000

/** The name of every document whose name starts with `prefix`; sorted, read in pages. */
export async function* listNames(
  documents: Pick<DocumentStore, 'names'>,
  prefix: string,
): AsyncGenerator<string> {
  let after = prefix
  for (;;) {
    const page = await documents.names(prefix, { after, limit: pageSize })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    after = last
  }
}

/** Every document whose name starts with `prefix`, the prefix cut off its name; by name, read in pages. */
export async function* listDocuments<Content extends Document>(
  documents: Pick<DocumentStore, 'list'>,
  prefix: string,
): AsyncGenerator<[string, Content]> {
  let after = prefix
  for (;;) {
    const page = await documents.list(prefix, { after, limit: pageSize })
    await readSlices.pause()
    for (const [name, content] of page) yield [name.slice(prefix.length), content as Content]
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last[0]
  }
}

/** What removes documents, in puts of a bounded size. @param isRemoved which of these; default: all */
export async function* removals(
  names: Iterable<string> | AsyncIterable<string>,
  isRemoved = (_name: string): boolean => true,
): AsyncGenerator<Record<string, null>> {
  let some: string[] = []
  for await (const name of names) {
    if (isRemoved(name)) some.push(name)
    if (some.length < pageSize) continue
    yield removalOf(some)
    some = []
  }
  yield removalOf(some)
}

const removalOf = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, null]))
