/**
 * An address of the server that the page came from. The page may be under a prefix of its host, behind a proxy.
 *
 * @param path from the root of the server, such as `/v2/things`; a whole address stays as it is
 * @param page the address of the page
 */
export function addressOf(path: string, page: string = document.baseURI): string {
  return new URL(path.replace(/^\//, './'), page.replace(/[?#].*$/, '')).href
}

/** The path of the root of the server, without a slash at its end: empty, or the prefix that a proxy gives it. */
export function prefixOf(page: string = document.baseURI): string {
  return new URL(addressOf('/', page)).pathname.replace(/\/$/, '')
}
