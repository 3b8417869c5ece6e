import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer } from '../../../src/server/server.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const file = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')

/** Type and labels of each metric of docs/reference/metrics.md. */
async function documented(): Promise<ReadonlyMap<string, { type: string; labels: readonly string[] }>> {
  const rows = (await file('docs/reference/metrics.md')).matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*)\|/gm)
  const labelsIn = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)
  return new Map(
    [...rows].map(([, name = '', type = '', cell = '']) => [name, { type, labels: labelsIn(cell) }]),
  )
}

/** Names of the metrics, histograms by their own name, that PromQL asks for. */
function askedFor(text: string): readonly string[] {
  const names = text.match(/\b(?:thingwire|process|nodejs)_\w+/g) ?? []
  return [...new Set(names.map(name => name.replace(/_(bucket|sum|count)$/, '')))]
}

describe('docs/reference/metrics.md', () => {
  let live: ReadonlyMap<string, string>
  let text: string
  beforeAll(async () => {
    const options = {
      httpPort: 0,
      mqttPort: 0,
      dataDir: await temporaryDirectory(afterAll),
      logLevel: 'silent',
    } as const
    const server = await createServer(options)
    text = await (await fetch(`${server.url}/metrics`)).text()
    live = metricsIn(text)
    await server.close()
  })

  it('has every metric of the service that is told, with its type', async () => {
    const own = [...live].filter(([name]) => name.startsWith('thingwire_')).sort()
    const known = await documented()
    const types = [...known].map(([name, { type }]) => [name, type])
    expect(types.filter(([name]) => name?.startsWith('thingwire_')).sort()).toEqual(own)
  })

  it('has no metric that is not told', async () => {
    const known = [...(await documented())]
    expect(known.filter(([name, { type }]) => live.get(name) !== type)).toEqual([])
  })

  it('has the labels of every sample', async () => {
    const known = await documented()
    const samples = text.matchAll(/^(thingwire_\w+)\{(.*)\} /gm)
    const unknown = [...samples].flatMap(([, sample = '', inside = '']) => {
      const { labels = [] } = known.get(sample) ?? known.get(sample.replace(/_(bucket|sum|count)$/, '')) ?? {}
      const told = [...inside.matchAll(/(\w+)="/g)].map(([, label = '']) => label)
      return told.filter(label => label !== 'le' && !labels.includes(label)).map(label => [sample, label])
    })
    expect(unknown).toEqual([])
  })

  it.each(['examples/grafana/thingwire.json', 'docs/use/operations.md'])(
    'has all that %s asks for',
    async path => {
      const asked = askedFor(await file(path))
      const known = await documented()
      expect(asked.length).toBeGreaterThan(5)
      expect(asked.filter(name => !known.has(name) || !live.has(name))).toEqual([])
    },
  )
})

/** Types by name. */
function metricsIn(text: string): ReadonlyMap<string, string> {
  const lines = text.matchAll(/^# TYPE (\w+) (\w+)$/gm)
  return new Map([...lines].map(([, name = '', type = '']) => [name, type]))
}
