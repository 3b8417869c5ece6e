import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { geo } from '../../src/magic/geo.ts'
import type { MagicState } from '../../src/magic/magic-resource.ts'
import { meta } from '../../src/magic/meta.ts'
import { settings } from '../../src/magic/settings.ts'

/**
 * A document as the list of its leaves, each with the path to it: another way to say what settings are. An object without
 * members is a leaf, as is everything that is no object.
 */
type Leaves = readonly (readonly [path: readonly string[], leaf: unknown])[]

function leavesOf(value: unknown, path: readonly string[] = []): Leaves {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, value]]
  const members = Object.entries(value)
  if (members.length === 0) return [[path, {}]]
  return members.flatMap(([name, member]) => leavesOf(member, [...path, name]))
}

function documentOf(leaves: Leaves): unknown {
  const root = leaves.find(([path]) => path.length === 0)
  if (root) return root[1]
  const names = [...new Set(leaves.map(([[name = '']]) => name))]
  return Object.fromEntries(
    names.map(name => [
      name,
      documentOf(
        leaves.flatMap(([[first, ...rest], leaf]) => (first === name ? [[rest, leaf] as const] : [])),
      ),
    ]),
  )
}

const startsWith = (path: readonly string[], start: readonly string[]) =>
  start.every((name, index) => path[index] === name)

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

function setLeaf(leaves: Leaves, path: readonly string[], value: unknown): Leaves {
  // A leaf on the way to the path gives way to an object.
  const beside = leaves.filter(([at]) => !startsWith(at, path) && !startsWith(path, at))
  return [...beside, ...leavesOf(value, path)]
}

function removeLeaf(leaves: Leaves, path: readonly string[]): Leaves {
  const beside = leaves.filter(([at]) => !startsWith(at, path))
  if (beside.length === leaves.length) return leaves
  const parent = path.slice(0, -1)
  const isEmptied = !beside.some(([at]) => startsWith(at, parent))
  return isEmptied ? [...beside, [parent, {}]] : beside
}

/** RFC 7396 leaf by leaf: null removes, anything else is set; an empty object only makes sure that there is one. */
function patchLeaves(leaves: Leaves, patch: object): Leaves {
  let patched = leaves
  for (const [path, leaf] of leavesOf(patch)) {
    const parent = path.slice(0, -1)
    if (path.length === 0) continue
    if (leaf === null) {
      if (!hasObjectAt(patched, parent)) patched = setLeaf(patched, parent, {})
      patched = removeLeaf(patched, path)
    } else if (!isObject(leaf) || !hasObjectAt(patched, path)) {
      patched = setLeaf(patched, path, leaf)
    }
  }
  return patched
}

function hasObjectAt(leaves: Leaves, path: readonly string[]): boolean {
  if (path.length === 0) return true
  return leaves.some(([at, leaf]) => startsWith(at, path) && (at.length > path.length || isObject(leaf)))
}

const name = fc.constantFrom('a', 'b', 'c', '7')
const leaf = fc.constantFrom<unknown>(1, 'x', false, [1, null], {})
const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(leaf, fc.constant(null)),
    fc.dictionary(name, tie('tree'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))
const patch = fc.dictionary(name, tree, { maxKeys: 3, noNullPrototype: true })
const path = fc.array(name, { minLength: 1, maxLength: 4 })
const change = fc.oneof(
  patch.map(value => ({ path: [] as string[], value: value as unknown })),
  fc.record({ path, value: tree }),
)

describe('settings.apply()', () => {
  it('does what a model made of leaves does, over any patches and paths', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), changes => {
        let state: MagicState | undefined
        let model: Leaves | undefined
        for (const [index, { path, value }] of changes.entries()) {
          const key = ['$settings', ...path].join('.')
          const next = settings.apply(state, { key, value, datetime: 0, receivedAt: index })
          if (next && 'reason' in next) throw new Error(next.message)
          const before = model && documentOf(model)
          if (path.length === 0) model = patchLeaves(model ?? [[[], {}]], value as object)
          else if (value !== null) model = setLeaf(model ?? [], path, value)
          else if (model) model = removeLeaf(model, path)
          const after = model && documentOf(model)
          expect(next?.value ?? state?.value).toEqual(after)
          expect(next !== undefined).toBe(JSON.stringify(sorted(before)) !== JSON.stringify(sorted(after)))
          if (next) expect(next.datetime).toBe(index)
          state = next ?? state
          expect(
            settings.parts?.read(state ?? { value: {}, datetime: 0 }, `$settings.${path.join('.') || 'a'}`),
          ).toEqual(partOf(after, path.length === 0 ? ['a'] : path))
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

function partOf(document: unknown, path: readonly string[]): unknown {
  const leaves = leavesOf(document ?? {}).flatMap(([at, leaf]) =>
    startsWith(at, path) ? [[at.slice(path.length), leaf] as const] : [],
  )
  return leaves.length === 0 ? undefined : documentOf(leaves)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const members = Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]))
}

const noPrototype = { noNullPrototype: true }
const members = fc.dictionary(
  fc.constantFrom('name', 'unit', 'kind'),
  fc.constantFrom('x', 'y', null),
  noPrototype,
)
const byPerson = members.map(given => ({ ...given }))
const byDiscovery = members.map(given => ({ ...given, discovered: Object.keys(given) }))
const byBoth = members.map(given => ({ ...given, discovered: Object.keys(given).slice(1) }))
const patchOf = <Given>(description: fc.Arbitrary<Given>) =>
  fc.dictionary(fc.constantFrom('a', 'b'), description, noPrototype)
const anyPatch = patchOf(fc.oneof(byPerson, byDiscovery, byBoth, fc.constantFrom(null, { discovered: null })))

describe('meta.apply()', () => {
  const patched = (value: unknown, patch: unknown) => {
    const change = { key: '$meta', value: patch, datetime: 0, receivedAt: 1 }
    const next = meta.apply({ value, datetime: 0 }, change)
    if (next && 'reason' in next) throw new Error(next.message)
    return next?.value ?? value
  }

  it('makes states that are patches of themselves, whatever patches they come from', () => {
    fc.assert(
      fc.property(fc.array(anyPatch, { maxLength: 8 }), patches => {
        const state = patches.reduce<unknown>(patched, {}) as object
        expect(meta.check({ key: '$meta', value: state, geo: undefined })).toEqual({ value: state })
        expect(patched({}, state)).toEqual(state)
        expect(patched(state, state)).toBe(state)
        for (const description of Object.values(state)) {
          expect(description).not.toEqual({})
          expect(description).not.toHaveProperty('discovered', [])
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('does not bring back what a person has removed, whatever is discovered', () => {
    fc.assert(
      fc.property(patchOf(byDiscovery), fc.array(patchOf(byDiscovery), { maxLength: 8 }), (first, found) => {
        const described = patched({}, first) as Record<string, { discovered: string[] }>
        const removal = Object.entries(described).map(([key, { discovered }]) => {
          return [key, Object.fromEntries(discovered.map(name => [name, null]))] as const
        })
        const state = patched(described, Object.fromEntries(removal))
        const later = found.reduce<unknown>(patched, state) as Record<string, object>
        for (const [key, removed] of removal)
          for (const name of Object.keys(removed)) expect(later[key]).not.toHaveProperty(name)
      }),
      { numRuns: 2_000 },
    )
  })

  it('keeps what a person has set, whatever is discovered', () => {
    fc.assert(
      fc.property(patchOf(byPerson), fc.array(patchOf(byDiscovery), { maxLength: 8 }), (set, found) => {
        const state = patched({}, set) as object
        expect(found.reduce<unknown>(patched, state)).toMatchObject(state)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('geo.apply()', () => {
  it('comes to the last written of the newest, whatever order positions come in', () => {
    const positions = fc.array(fc.record({ long: fc.integer({ min: -180, max: 180 }), datetime: fc.nat(20) }))
    fc.assert(
      fc.property(positions, sent => {
        const told: number[] = []
        let state: MagicState | undefined
        for (const [index, { long, datetime }] of sent.entries()) {
          const value = { type: 'Point', coordinates: [long, index] }
          const next = geo.apply(state, { key: '$geo', value, datetime, receivedAt: 1_000 })
          if (next && 'reason' in next) throw new Error(next.message)
          if (next) told.push(next.datetime)
          state = next ?? state
        }
        const newest = Math.max(...sent.map(({ datetime }) => datetime))
        const last = sent.findLastIndex(({ datetime }) => datetime === newest)
        expect(state).toEqual(
          last === -1
            ? undefined
            : { value: { type: 'Point', coordinates: [sent[last]?.long, last] }, datetime: newest },
        )
        expect(told).toEqual(told.toSorted((a, b) => a - b))
      }),
    )
  })
})
