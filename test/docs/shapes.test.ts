import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ParsedWrite, parseWrite, WriteRefused } from '../../src/core/parse.ts'
import { createMagicRegistry } from '../../src/magic/registry.ts'
import { anyWrite } from '../doors/any-write.ts'
import { matches, unsaid } from '../doors/case-table.ts'

/** What the documents say of a write, held to the rules themselves; the table of cases holds it to what the doors do. */

const rules = { options: {}, now: Date.parse('2026-11-21T09:30:00Z'), magic: createMagicRegistry() }

describe('the documented shape of a write', () => {
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
