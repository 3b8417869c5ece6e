import type { Count } from '../../fault/counter.ts'
import { untilNothingWrong } from '../participant.ts'
import type { Resource } from './publisher.ts'
import { type ResourceViews, settledWithin, storedIn } from './resource-views.ts'

/** Each write changes `$settings`, and `$count` of the counting host: what is applied twice, or told twice, is seen. */
export const magic: Resource = {
  body: number => ({
    values: [
      { key: '$settings.n', value: number },
      { key: '$count', value: `n1-2-0-${number}-0` },
    ],
  }),
  check: views => untilNothingWrong(() => lookAt(views), settledWithin),
}

async function lookAt({ nodes, thing, sent, told }: Omit<ResourceViews, 'key'>): Promise<readonly string[]> {
  const seen = await Promise.all(
    nodes.map(async server => ({
      stored: await storedIn(server, thing, '$settings.n'),
      settings: await stateOf<{ n: number }>(server.url, thing.thingToken, '$settings'),
      count: await stateOf<Count>(server.url, thing.thingToken, '$count'),
    })),
  )
  const stored = seen[0]?.stored ?? []
  const shown = `stored ${stored.join(' ')}`
  const liveSettings = told.of('$settings').map(value => (value as { n: number }).n)
  const liveCounts = told.of('$count').map(value => (value as Count).applied)
  const counts = stored.map((_, place) => place + 1)
  const is = (what: string, expected: unknown, got: unknown) =>
    String(expected) === String(got)
      ? []
      : [`${what} of ${thing.thingId}: expected ${expected}, got ${got}; ${shown}`]
  return [
    ...sent.check(stored).map(wrong => `$settings.n of ${thing.thingId}: ${wrong}; ${shown}`),
    ...is('$settings told live', stored, liveSettings),
    ...is('$count told live', counts, liveCounts),
    ...seen.flatMap(({ settings, count, stored: values }, place) => [
      ...is(`$settings.n at node ${place}`, stored, values),
      ...is(`$settings at node ${place}`, stored.at(-1), settings?.n),
      ...is(`applied to $count at node ${place}`, stored.length, count?.applied),
    ]),
  ]
}

async function stateOf<State>(url: string, token: string, key: string): Promise<State | undefined> {
  const response = await fetch(`${url}/v2/things/${token}/resources/${encodeURIComponent(key)}`)
  const items = (await response.json()) as { value: State }[]
  return response.status === 200 ? items[0]?.value : undefined
}
