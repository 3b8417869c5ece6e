import type { Count } from '../../fault/counter.ts'
import { untilNothingWrong } from '../participant.ts'
import { difference, shown } from './difference.ts'
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
  const settings = told.of('$settings').map(value => String((value as { n: number }).n))
  const counts = told.of('$count').map(value => String((value as Count).applied))
  const applied = stored.map((_, place) => String(place + 1))
  const is = (what: string, expected: unknown, got: unknown) =>
    expected === got ? [] : [`${what}: expected ${expected}, got ${got}`]
  return [
    ...sent.check(stored).map(wrong => `$settings.n: ${wrong}; stored ${shown(stored)}`),
    ...difference(['$settings.n stored', stored], ['$settings told live', settings]),
    ...difference(['$count of what is stored', applied], ['told live', counts]),
    ...seen.flatMap((view, place) => [
      ...difference(['$settings.n stored', stored], [`at node ${place}`, view.stored]),
      ...is(`$settings at node ${place}`, stored.at(-1), String(view.settings?.n)),
      ...is(`applied to $count at node ${place}`, stored.length, view.count?.applied),
    ]),
  ].map(wrong => `${thing.thingId}: ${wrong}`)
}

async function stateOf<State>(url: string, token: string, key: string): Promise<State | undefined> {
  const response = await fetch(`${url}/v2/things/${token}/resources/${encodeURIComponent(key)}`)
  const items = (await response.json()) as { value: State }[]
  return response.status === 200 ? items[0]?.value : undefined
}
