/** Yields the items of a list that is read by pages. @param read reads the page at a cursor, or the first one, and returns the next cursor */
export async function* allPages<Item>(
  read: (cursor: { readonly cursor?: string }) => Promise<readonly [readonly Item[], string | undefined]>,
): AsyncGenerator<Item> {
  let cursor: { readonly cursor?: string } = {}
  for (;;) {
    const [page, next] = await read(cursor)
    yield* page
    if (next === undefined) return
    cursor = { cursor: next }
  }
}
