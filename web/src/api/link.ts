/** The address in `Link: <…>; rel="next"` (RFC 8288). @param base the address of the answer */
export function nextOf(link: string | null, base: string): string | undefined {
  const next = /<([^>]*)>\s*;\s*rel="next"/.exec(link ?? '')?.[1]
  return next === undefined ? undefined : new URL(next, base).href
}
