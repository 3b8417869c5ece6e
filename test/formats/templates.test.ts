import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { homeAssistant } from '../../src/formats/homeassistant/homeassistant.ts'
import { play } from './play.ts'

/** A template that stands in the source of a device, with a message as the device publishes it. */
interface Row {
  readonly component: string
  readonly template: string
  readonly unit?: string
  readonly on?: unknown
  readonly off?: unknown
  readonly payload: string
  readonly reads: 'member' | 'computed' | 'none'
  readonly key?: string
  /** The value in the message. */
  readonly value?: unknown
  /** The state in Home Assistant. */
  readonly shown?: unknown
}

interface Source {
  readonly family: string
  readonly templates: readonly Row[]
}

const sources: readonly Source[] = JSON.parse(
  readFileSync(new URL('samples/templates.json', import.meta.url), 'utf8'),
)

describe('readTemplate(), by the templates of devices', () => {
  for (const { family, templates } of sources)
    it.each(templates)(`reads $template of ${family}`, row => {
      const { reads, key, value, unit } = row
      const { records, resources, unread } = stored(row)
      if (reads === 'none') {
        expect(records).toEqual([])
        expect(unread).toEqual([
          {
            place: 'value_template',
            reason: expect.stringMatching(/^must be a template that reads .*, but it reads /),
          },
        ])
        return
      }
      expect(unread).toEqual([])
      expect(records).toEqual([{ key, value }])
      expect(resources[key ?? '']?.unit).toBe(reads === 'member' ? unit : undefined)
    })

  it('gives the value of Home Assistant and its unit for two thirds, the bare member for a quarter, never a wrong one', () => {
    const results = new Map(
      sources.flatMap(({ templates }) => templates.map(row => [row.template, resultOf(row)])),
    )
    const share = (result: string) =>
      [...results.values()].filter(other => other === result).length / results.size
    console.log(
      `${results.size} templates of ${new Set(sources.map(({ family }) => family)).size} families:`,
      ['right', 'raw', 'none', 'wrong'].map(result => `${result} ${share(result).toFixed(3)}`).join(', '),
    )
    expect(new Set(sources.map(({ family }) => family)).size).toBeGreaterThanOrEqual(15)
    expect(share('wrong')).toBe(0)
    expect(share('right')).toBeGreaterThanOrEqual(0.65)
    expect(share('right') + share('raw')).toBeGreaterThanOrEqual(0.9)
  })
})

/** What is stored of a row's message after the discovery of the entity. */
function stored({ component, template, unit, on, off, payload }: Row) {
  const config = {
    state_topic: 'house/probe',
    value_template: template,
    device: { identifiers: ['node'] },
    ...(unit !== undefined && { unit_of_measurement: unit }),
    ...(on !== undefined && { payload_on: on, payload_off: off }),
  }
  const played = play(homeAssistant, [
    { topic: `homeassistant/${component}/node/probe/config`, payload: JSON.stringify(config) },
    { topic: 'house/probe', payload },
  ])
  return {
    records: played.records.get('node') ?? [],
    resources: played.describe('node')?.resources ?? {},
    unread: played.unread,
  }
}

/** `right`: the value and the unit that Home Assistant shows; `raw`: the member, without a unit. */
function resultOf(row: Row): 'right' | 'raw' | 'none' | 'wrong' {
  const { records, resources } = stored(row)
  const [record] = records
  if (!record) return 'none'
  const unit = resources[record.key]?.unit
  if (Object.is(record.value, row.shown) && unit === row.unit) return 'right'
  return unit === undefined && JSON.stringify(record.value) === JSON.stringify(row.value) ? 'raw' : 'wrong'
}
