import { expect, test } from 'vitest'
import { SequenceCheck } from './ledger.ts'

interface Case {
  readonly name: string
  /** Places by connection. */
  readonly connections: readonly (readonly number[])[]
  readonly violations: number
  readonly repeated: number
}

const cases: readonly Case[] = [
  {
    name: 'takes everything in order',
    connections: [
      [0, 1],
      [2, 3],
    ],
    violations: 0,
    repeated: 0,
  },
  {
    name: 'lets a new connection begin earlier',
    connections: [
      [0, 1, 2],
      [1, 2, 3],
    ],
    violations: 0,
    repeated: 2,
  },
  {
    name: 'lets what came be passed over',
    connections: [
      [0, 1, 2],
      [0, 2, 3],
    ],
    violations: 0,
    repeated: 2,
  },
  { name: 'finds a gap on a connection', connections: [[0, 2]], violations: 1, repeated: 0 },
  { name: 'finds a gap between connections', connections: [[0], [2]], violations: 1, repeated: 0 },
  {
    name: 'finds a message that comes twice on a connection',
    connections: [[0, 1, 1]],
    violations: 1,
    repeated: 1,
  },
  {
    name: 'finds a message that is overtaken',
    connections: [
      [0, 1],
      [1, 0],
    ],
    violations: 1,
    repeated: 2,
  },
]

test.for(cases)('SequenceCheck $name', ({ connections, violations, repeated }) => {
  const check = new SequenceCheck('receiver')
  for (const places of connections) {
    check.connected()
    for (const place of places) check.take(place)
  }
  expect(check.violations).toHaveLength(violations)
  expect(check.repeated).toBe(repeated)
})
