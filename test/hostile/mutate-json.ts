import type { Random } from '../helpers/random.ts'

/** Values that a field seldom has. */
const strange: readonly [unknown, ...unknown[]] = [
  null,
  ...[true, 0, -0, -1, 1.5, 2 ** 53, -1e308, 5e-324],
  ...['', ' ', '\0', '\ud800', '$geo', '$settings.a.b', '__proto__', 'x'.repeat(129), 'x'.repeat(70_000)],
  ...['20250230000000', '1969-12-31T23:59:59Z', '+275760-09-13'],
  ...[[], {}, [[]], { lat: 91, long: '0' }, { constructor: 1 }, { type: 'Point', coordinates: [200, 100] }],
]

/** A copy of a JSON value with one to three of its parts replaced, removed, renamed, exchanged, repeated or nested. */
export function mutateJson(value: unknown, random: Random): unknown {
  let mutated = value
  const times = 1 + random.below(3)
  for (let done = 0; done < times; done++) mutated = mutateOne(mutated, random)
  return mutated
}

function mutateOne(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return replace(value, random)
  const members: [string, unknown][] = Object.entries(value)
  const place = random.below(members.length)
  const [name, member] = members[place] ?? ['', undefined]
  const what = random.below(10)
  if (what === 0) members.splice(place, 1)
  else if (what === 1) members.splice(place, 1, [String(random.pick(strange)), member])
  else if (what === 2) exchange(members, place, random.below(members.length))
  else members.splice(place, 1, [name, mutateOne(member, random)])
  // Which gives an object a member named __proto__, too.
  return Array.isArray(value) ? members.map(([, item]) => item) : Object.fromEntries(members)
}

/** Exchanges the values of two members, and leaves the names. */
function exchange(members: [string, unknown][], one: number, other: number): void {
  const [first, second] = [members[one], members[other]]
  if (first && second) [first[1], second[1]] = [second[1], first[1]]
}

function replace(value: unknown, random: Random): unknown {
  if (random.chance(0.2)) return nested(value, 1 + random.below(40))
  if (random.chance(0.2)) return Array.from({ length: random.below(50) }, () => value)
  return random.pick(strange)
}

function nested(value: unknown, depth: number): unknown {
  return depth === 0 ? value : [nested(value, depth - 1)]
}
