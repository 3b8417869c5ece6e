import { expect } from 'vitest'
import type { Host, Injected } from '../host.ts'

export interface GivenInterval {
  readonly datetime: string
  readonly [name: string]: unknown
}

/** How intervals are asked for: of one resource, or of several. */
export const routes = ['resources/k', 'aggregates'] as const

/** The intervals of `k` by either route. */
export function addressOf(host: Host, route: (typeof routes)[number], query: string): string {
  return route === 'aggregates'
    ? `${host.path}/aggregates?keys=k&${query}`
    : `${host.path}/resources/k?${query}`
}

export function intervalsOf(answer: Injected): GivenInterval[] {
  expect([answer.statusCode, answer.statusCode === 200 ? '' : answer.body]).toEqual([200, ''])
  const body = answer.json() as GivenInterval[] | { k: GivenInterval[] }
  return Array.isArray(body) ? body : body.k
}

/** An answer and those that its links lead to. */
export async function* pagesFrom(host: Host, url: string): AsyncGenerator<Injected> {
  for (let next: string | undefined = url; next !== undefined; ) {
    const answer = await host.inject({ url: next })
    yield answer
    const [, query] = /^<(\?.+)>; rel="next"$/.exec(String(answer.headers.link ?? '')) ?? []
    next = query === undefined ? undefined : url.split('?')[0] + query
  }
}

/** The intervals of `k` of all pages. */
export async function allIntervals(host: Host, url: string): Promise<GivenInterval[]> {
  const all: GivenInterval[] = []
  for await (const answer of pagesFrom(host, url)) all.push(...intervalsOf(answer))
  return all
}
