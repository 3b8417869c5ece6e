import { describe, expect, it } from 'vitest'
import { readJson } from '../../src/core/json/read-json.ts'
import { write } from '../../src/http/operations/shapes.ts'
import type { Case, Step } from '../doors/case.ts'
import { cases } from '../doors/cases/index.ts'

/** What the documents say of a write, held to the table of cases that both doors are held to. */

const steps = Object.entries(cases).flatMap(([group, rows]) =>
  rows.flatMap(row => stepsOf(row).map(step => ({ name: `${group}: ${row.name}`, ...step }))),
)

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
})

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
