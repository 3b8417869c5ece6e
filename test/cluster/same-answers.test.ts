import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningNodes, startNodes } from '../helpers/cluster.ts'
import { createThing, type ServerAddress, type Thing } from '../helpers/http-client.ts'
import { type ServerProcess, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** A request; `<ref>` in its path stands for the thing's token, `<id>` for its id. */
interface Asked {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly accept?: string
  readonly isOperator?: true
}

const onEnd: (() => Promise<void>)[] = []
let alone: ServerProcess
let cluster: RunningNodes
let thingAlone: Thing
let thing: Thing
beforeAll(async () => {
  alone = await startServer({ dataDir: await temporaryDirectory(remove => onEnd.push(remove)) })
  cluster = await startNodes(2)
  thingAlone = await createThing(alone)
  thing = await createThing(cluster.node(0))
  for (const [turn, asked] of depths.entries()) await expectSameAnswers(asked, turn)
})
afterAll(async () => {
  await alone?.kill()
  await cluster?.end()
  for (const end of onEnd) await end()
})

/** All that is written here has a datetime of its own, of one minute, but for changes of settings. */
const receiptTime = /"datetime":"(?!2026-01-01T00:00)[^"]*"/g
const at = (second: number) => `202601010000${String(second).padStart(2, '0')}`

/** What a client sees of the answer: status, type, the link to the next page, body. */
async function answer(
  { url, adminKey }: ServerAddress,
  { thingToken, thingId }: Thing,
  { method = 'GET', path, body, accept, isOperator }: Asked,
) {
  const response = await fetch(url + path.replace('<ref>', thingToken).replace('<id>', thingId), {
    method,
    headers: {
      ...(accept ? { accept } : {}),
      ...(isOperator ? { authorization: `Bearer ${adminKey}` } : {}),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const { status, headers } = response
  const next = /^<(.*)>/.exec(headers.get('link') ?? '')?.[1]
  const text = (await response.text()).replace(receiptTime, '"datetime":"received"')
  const told = [status, headers.get('content-type'), headers.get('retry-after'), text]
  return { told, next: next && path.replace(/\?.*/, '') + next }
}

async function expectSameAnswers(asked: Asked, turn: number): Promise<void> {
  const expected = await answer(alone, thingAlone, asked)
  // What reads is asked of both nodes; what changes something of one.
  const nodes = asked.method === undefined ? cluster.nodes : [cluster.node(turn % 2)]
  for (const node of nodes) {
    const { told, next } = await answer(node, thing, asked)
    expect(told).toEqual(expected.told)
    expect(next === undefined).toBe(expected.next === undefined)
  }
}

async function pages(nodes: readonly ServerAddress[], of: Thing, first: string): Promise<unknown[]> {
  const found: unknown[] = []
  let path: string | undefined = first
  for (let turn = 0; path !== undefined; turn++) {
    const { told, next } = await answer(nodes[turn % nodes.length] as ServerAddress, of, { path })
    found.push(told)
    path = next
  }
  return found
}

const depths: readonly Asked[] = Array.from({ length: 30 }, (_, second) => ({
  method: 'POST',
  path: '/v2/things/<ref>',
  body: {
    values: [
      {
        key: 'depth',
        value: second % 7 === 0 ? 'none' : second / 2,
        datetime: at(second),
        ...(second % 3 === 0 ? { geo: { lat: 60 + second / 10, long: '23.5' } } : {}),
      },
      { key: 'state', value: { steps: [second] }, datetime: at(59 - second) },
    ],
  },
}))
const refused: readonly Asked[] = [
  '',
  '[]',
  { values: [] },
  { values: [{ key: 'two words', value: 1 }] },
  { values: [{ key: '$unknown', value: 1 }] },
  { values: [{ key: 'a', value: 1, datetime: '20250230000000' }] },
  { values: [{ key: 'a', value: 1, geo: { lat: 91, long: 0 } }] },
  { values: [{ key: '$settings.a..b', value: 1 }] },
  { values: [{ key: 'a', value: 1 }], id: '' },
].map(body => ({ method: 'POST', path: '/v2/things/<ref>', body }))
const written: readonly Asked[] = [
  ['', { values: [{ key: 'again', value: 1, datetime: at(0) }] }],
  ['', { values: [{ key: 'again', value: 1, datetime: at(0) }] }],
  ['', { values: [{ key: 'again', value: 2, datetime: at(0) }] }],
  ['', { values: [{ key: 'by-id', value: 1, datetime: at(1) }], id: 'one' }],
  ['', { values: [{ key: 'by-id', value: 2, datetime: at(2) }], id: 'one' }],
  ['?partial=true', { values: [{ key: 'part', value: 1, datetime: at(0) }, { key: '' }], id: 'part' }],
  ['?partial=true', { values: [{ key: 'part', value: 2, datetime: at(0) }, { key: '' }], id: 'part' }],
  ['?store=false', { values: [{ key: 'unstored', value: 1 }] }],
  ['?store=maybe', { values: [{ key: 'unstored', value: 1 }] }],
].map(([query, body]) => ({ method: 'POST', path: `/v2/things/<ref>${query}`, body }))
const read: readonly Asked[] = [
  ...['', '?limit=7', '?limit=7&order=asc', '?limit=0', '?order=up', '?startDate=no', '?cursor=no'],
  ...['?startDate=20260101000005', '?startDate=20260101000003&endDate=20260101000009&limit=9&order=asc'],
  ...[
    '?aggregate=avg,min,max,sum,count,first,last&interval=10s',
    '?aggregate=avg',
    '?aggregate=no&interval=1h',
    '?aggregate=count&interval=1mo&tz=Europe/Madrid',
    '?aggregate=count,last&interval=3s&empty=true&limit=7',
    '?points=4',
    '?points=4&tz=nowhere',
  ],
].map(query => ({ path: `/v2/things/<ref>/resources/depth${query}` }))
const listed: readonly Asked[] = [
  { path: '/v2/things/<ref>/aggregates?keys=state,depth,never&aggregate=count&interval=5s&limit=2' },
  { path: '/v2/things/<ref>/aggregates?keys=never&points=3' },
  ...['again', 'by-id', 'part', 'state'].map(key => ({ path: `/v2/things/<ref>/resources/${key}?limit=5` })),
  { path: '/v2/things/<ref>/resources/unstored' },
  { path: '/v2/things/<ref>/resources/depth', accept: 'text/csv' },
  { path: '/v2/things/<ref>/resources/depth', accept: 'application/x-ndjson' },
  { path: '/v2/things/<ref>/resources' },
  { path: '/v2/things/<ref>/all_resources?limit=3' },
  { path: '/v2/things/<id>/resources/depth' },
  { path: '/v2/things/<id>/resources/depth', isOperator: true },
  { path: '/v2/nothing' },
]
const removed: readonly Asked[] = [
  { method: 'DELETE', path: '/v2/things/<ref>/resources/depth' },
  {
    method: 'DELETE',
    path: '/v2/things/<id>/resources/depth?startDate=20260101000005&endDate=20260101000010',
    isOperator: true,
  },
  { path: '/v2/things/<ref>/resources/depth?limit=40' },
  { method: 'DELETE', path: '/v2/things/<id>/resources/state', isOperator: true },
  { path: '/v2/things/<ref>/resources/state' },
  { path: '/v2/things/<ref>/resources' },
]

describe('two nodes of which each gets every other request', () => {
  it('give the pages of a resource as one embedded server does, each the page that follows the other’s', async () => {
    const queries = [
      ...['limit=4', 'limit=4&order=asc', 'aggregate=count,sum&interval=3s&limit=2'],
      'aggregate=count,first&interval=2s&empty=true&limit=3&order=asc',
    ]
    for (const query of queries) {
      const path = `/v2/things/<ref>/resources/depth?${query}`
      const found = await pages(cluster.nodes, thing, path)
      expect(found.length).toBeGreaterThan(2)
      expect(found).toEqual(await pages([alone], thingAlone, path))
    }
  })

  it('have the states of magic resources that one embedded server has', async () => {
    const records = [
      { key: '$geo', value: [23.5, 60.1], datetime: at(1) },
      { key: '$geo', value: [1, 2], datetime: at(0) },
      { key: '$settings', value: { alarm: { depth: 3, sound: 'horn' } }, datetime: at(1) },
      { key: '$settings.alarm.sound', value: null, datetime: at(2) },
      { key: '$settings.name', value: 'Boat', datetime: at(3) },
    ]
    for (const [turn, record] of records.entries()) {
      await expectSameAnswers({ method: 'POST', path: '/v2/things/<ref>', body: { values: [record] } }, turn)
    }
    const path = '/v2/things/<ref>/resources/$settings'
    for (const [server, of] of [
      [alone, thingAlone],
      [cluster.node(0), thing],
      [cluster.node(1), thing],
    ] as const) {
      await expect.poll(async () => (await answer(server, of, { path })).told.at(-1)).toContain('"Boat"')
    }
    const keys = [
      '$geo',
      '$geo?limit=9',
      '$settings',
      '$settings.alarm',
      '$settings.alarm.sound',
      '$settings?limit=9',
    ]
    for (const key of keys) await expectSameAnswers({ path: `/v2/things/<ref>/resources/${key}` }, 0)
  })

  it('answer as one embedded server does: writes, resends, refusals, reads, removals', async () => {
    const all = [...refused, ...written, ...read, ...listed, ...removed]
    for (const [turn, asked] of all.entries()) await expectSameAnswers(asked, turn)
  })
})
