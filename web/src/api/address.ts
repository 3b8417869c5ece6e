/**
 * The address of a path on the server that sent the page. Behind a proxy, the page may be under a prefix.
 *
 * @param path a path on the server, such as `/v2/things`; a whole address is not changed
 * @param page the address of the page
 */
export function addressOf(path: string, page: string = document.baseURI): string {
  return new URL(path.replace(/^\//, './'), page.replace(/[?#].*$/, '')).href
}

/** The prefix of the server behind a proxy, without a trailing slash; empty if there is no prefix. */
export function prefixOf(page: string = document.baseURI): string {
  return new URL(addressOf('/', page)).pathname.replace(/\/$/, '')
}
