import type { TimeWindow } from './chart/window.ts'

/** The part of a thing page's state that is in the address, so that a reload or a link shows it again. */
export interface View {
  readonly resourceKey?: string
  /** Absent until the user chooses a window. */
  readonly shown?: TimeWindow
}

/** The view that a hash such as `#/things/<id>?resource=depth&seconds=3600` names; a missing parameter is absent. */
export function viewOf(hash: string): View {
  const parameters = new URLSearchParams(hash.split('?')[1] ?? '')
  const resourceKey = parameters.get('resource')
  const span = 1000 * Number(parameters.get('seconds'))
  const to = Date.parse(parameters.get('to') ?? '')
  const isSpan = Number.isFinite(span) && span >= 1000
  return {
    ...(resourceKey ? { resourceKey } : {}),
    ...(isSpan ? { shown: { span, ...(Number.isNaN(to) ? {} : { to }), ...allOf(parameters) } } : {}),
  }
}

/** The hash with its view replaced by this view. */
export function hashWith(hash: string, { resourceKey, shown }: View): string {
  const [path = ''] = hash.split('?')
  const parameters = new URLSearchParams()
  if (resourceKey !== undefined) parameters.set('resource', resourceKey)
  if (shown) parameters.set('seconds', String(Math.round(shown.span / 1000)))
  if (shown?.to !== undefined) parameters.set('to', new Date(shown.to).toISOString())
  if (shown?.isAll) parameters.set('all', '1')
  const query = String(parameters)
  return query === '' ? path : `${path}?${query}`
}

function allOf(parameters: URLSearchParams): { readonly isAll?: true } {
  return parameters.has('all') ? { isAll: true } : {}
}
