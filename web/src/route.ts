import { type ReadonlySignal, signal } from '@preact/signals'
// Imported first: it removes the session from the hash, which would not be a page.
import './session/link-session.ts'

type Route =
  | { readonly page: 'things' }
  | { readonly page: 'thing'; readonly thingId: string }
  | { readonly page: 'connect'; readonly thingId: string }
  | { readonly page: 'operator' }
  | { readonly page: 'none'; readonly hash: string }

const current = signal(routeOf(location.hash))
addEventListener('hashchange', () => {
  current.value = routeOf(location.hash)
  scrollTo(0, 0)
})

/** The page that the hash names. */
export const route: ReadonlySignal<Route> = current

function routeOf(hash: string): Route {
  if (hash === '#/operator') return { page: 'operator' }
  // The query is ignored here. It belongs to the page (`View`).
  const [, thingId, connect] = /^#\/things\/([a-z2-7]{16})(\/connect)?(?:\?|$)/.exec(hash) ?? []
  if (thingId === undefined) return /^(#\/?)?$/.test(hash) ? { page: 'things' } : { page: 'none', hash }
  return { page: connect === undefined ? 'thing' : 'connect', thingId }
}

/** The hash of the page that connects a device to a thing. */
export function connectHash(thingId: string): string {
  return `${thingHash(thingId)}/connect`
}

/** The hash of a thing's page. */
export function thingHash(thingId: string): string {
  return `#/things/${thingId}`
}
