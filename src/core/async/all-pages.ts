/** Yields the items of all pages. @param read reads the page at a cursor, or the first one @param itemsOf the items of a page */
export async function* allPages<Page extends { readonly next?: string }, Item>(
  read: (cursor: { readonly cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): AsyncGenerator<Item> {
  let cursor: { readonly cursor?: string } = {}
  for (;;) {
    const page = await read(cursor)
    yield* itemsOf(page)
    if (page.next === undefined) return
    cursor = { cursor: page.next }
  }
}
