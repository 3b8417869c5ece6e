const excerptCharacters = 200
/** Anything as long as an activation code, the shortest secret, or longer. */
const secretLike = /[A-Za-z0-9_-]{34,}/g
/** What write ids often are is as long, and no secret. */
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
/** What belongs to a token that began before. */
const restOfToken = /^[A-Za-z0-9_-]*/

/** Text of a client's with everything in it that could be a token or an activation code redacted. */
export function redact(text: string): string {
  return text.replace(secretLike, run => (uuid.test(run) ? run : '[redacted]'))
}

/**
 * What is shown of a refused body: its first 200 characters, tokens redacted. Bytes that are not UTF-8 appear as
 * U+FFFD.
 */
export function excerpt(body: Uint8Array): string {
  const start = Buffer.from(
    body.buffer,
    body.byteOffset,
    Math.min(body.byteLength, excerptCharacters * 4 + 256),
  )
  const text = start.toString('utf8')
  // A token that straddles the cut is redacted like any other: its first part would be most of it.
  const straddling = restOfToken.exec(text.slice(excerptCharacters))?.[0] ?? ''
  const shown = text.slice(0, excerptCharacters + straddling.length)
  return redact(shown).slice(0, excerptCharacters)
}
