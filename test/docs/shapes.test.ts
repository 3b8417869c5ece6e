import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readJson } from '../../src/core/json/read-json.ts'
import { type ParsedWrite, parseWrite, WriteRefused } from '../../src/core/parse.ts'
import { write } from '../../src/http/operation/shapes.ts'
import { createMagicRegistry } from '../../src/magic/registry.ts'
import { anyWrite } from '../doors/any-write.ts'
import type { Case, Step } from '../doors/case.ts'
import { cases } from '../doors/cases/index.ts'

/** What the documents say of a write, held to the table of cases that both doors are held to, and to the rules themselves. */

const steps = Object.entries(cases).flatMap(([group, rows]) =>
  rows.flatMap(row => stepsOf(row).map(step => ({ name: `${group}: ${row.name}`, ...step }))),
)

const rules = { options: {}, now: Date.parse('2026-11-21T09:30:00Z'), magic: createMagicRegistry() }

/** What no schema says: real times, sizes, depths, forbidden members, the limits of doubles. */
const unsaid = new Set([
  'invalid_datetime',
  'datetime_out_of_range',
  'forbidden_member',
  'value_too_large',
  'value_too_deep',
  'number_out_of_range',
  'invalid_position',
  'invalid_settings',
  'invalid_utf8',
])

describe('the documented shape of a write', () => {
  it('takes every body that the doors take whole', () => {
    const taken = steps.filter(({ name, answer }) => {
      // Of what repeats an id the body is not looked at.
      return 'created' in answer && !('rejected' in answer) && !name.startsWith('write ids: a known id with')
    })
    const refused = taken.filter(({ body }) => !matches(body)).map(({ name }) => name)
    expect(taken.length).toBeGreaterThan(100)
    expect(refused).toEqual([])
  })

  it('refuses every body that the doors refuse for its shape', () => {
    const refused = steps.filter(({ name, answer }) => {
      // A pattern cannot tell how large a number is that is sent as a string.
      return 'refused' in answer && !unsaid.has(answer.refused) && !/a (lat|long)itude of "/.test(name)
    })
    const taken = refused.filter(({ body, options }) => !options && matches(body)).map(({ name }) => name)
    expect(refused.length).toBeGreaterThan(50)
    expect(taken).toEqual([])
  })

  it('takes and refuses whatever the rules of a write do', () => {
    let [taken, refused] = [0, 0]
    const look = (body: Buffer) => {
      const reasons = reasonsOf(body)
      if (reasons.length === 0) {
        taken++
        expect(matches(body)).toBe(true)
      } else if (reasons.some(reason => !unsaid.has(reason))) {
        refused++
        expect(matches(body)).toBe(false)
      }
    }
    fc.assert(fc.property(anyWrite, look), { numRuns: 2_000 })
    expect(Math.min(taken, refused)).toBeGreaterThan(100)
  })
})

/** Why the rules refuse a write, or records of it. */
function reasonsOf(body: Buffer): readonly string[] {
  try {
    const parsed: ParsedWrite = parseWrite(body, rules)
    return parsed.rejected.map(({ reason }) => reason)
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error
    return (error.errors ?? [error]).map(({ reason }) => reason)
  }
}

function stepsOf({ steps }: Case): readonly Step[] {
  return (steps as readonly (Step | readonly Step[])[]).flat()
}

function matches(body: Step['body']): boolean {
  const isText = typeof body === 'string' || body instanceof Uint8Array
  try {
    return write.safeParse(isText ? readJson(Buffer.from(body)) : body).success
  } catch {
    return false
  }
}
