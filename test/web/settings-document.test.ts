import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergePatch as serverMergePatch } from '../../src/magic/settings.ts'
import { type Document, mergePatch, patchBetween } from '../../web/src/thing/settings/document.ts'

const value = fc.letrec(tie => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.array(fc.oneof(fc.integer(), fc.constant(null))),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('any'), { noNullPrototype: true }),
}))
const document = value.object as fc.Arbitrary<Document>

describe('patchBetween()', () => {
  it('gives a patch with which the server makes the second document of the first', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        expect(serverMergePatch(before, patchBetween(before, after))).toEqual(after)
      }),
    )
  })

  it('is empty between equal documents', () => {
    fc.assert(
      fc.property(document, same => {
        expect(patchBetween(same, structuredClone(same))).toEqual({})
      }),
    )
  })
})

describe('mergePatch()', () => {
  it('does what the server does', () => {
    fc.assert(
      fc.property(document, document, (target, patch) => {
        expect(mergePatch(target, patch)).toEqual(serverMergePatch(target, patch))
      }),
    )
  })
})
