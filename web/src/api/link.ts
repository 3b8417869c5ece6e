/** The path in `Link: <path>; rel="next"` (RFC 8288). */
export function nextOf(link: string | null): string | undefined {
  return /<([^>]+)>\s*;\s*rel="next"/.exec(link ?? '')?.[1]
}
