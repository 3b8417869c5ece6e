import { readSlices } from './async/slices.ts'
import type { Document, DocumentStore } from './ports.ts'

const pageSize = 1_000

/** The sorted names of all documents whose name starts with a prefix. Read page by page. */
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

/** All documents whose name starts with a prefix, sorted by name; the names are given without the prefix. Read page by page. */
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

/** Splits a removal of documents into puts of bounded size. @param isRemoved which names to remove; default: all */
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
