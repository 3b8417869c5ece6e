import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Case } from './case.ts'
import { cases } from './cases/index.ts'
import type { Door } from './door.ts'
import { httpDoor } from './http-door.ts'
import { runCase } from './run-case.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

interface DoorUnderTest {
  readonly name: string
  readonly open: () => Door
  /** Whether the door has anything to do with the case that another one has not. */
  readonly tries: (row: Case) => boolean
}

const doors: readonly DoorUnderTest[] = [
  { name: 'HTTP, options in the query', open: () => httpDoor(service.url, 'query'), tries: () => true },
  { name: 'HTTP, options in the body', open: () => httpDoor(service.url, 'body'), tries: hasOptions },
]
const table = Object.entries(cases).flatMap(([group, rows]) =>
  rows.map(row => ({ ...row, name: `${group}: ${row.name}` })),
)

describe('the case table', () => {
  it('holds at least 100 writes, each under a name of its own', () => {
    const names = table.map(({ name }) => name)
    expect(names.length).toBeGreaterThanOrEqual(100)
    expect(new Set(names).size).toBe(names.length)
  })
})

for (const { name, open, tries } of doors) {
  describe.concurrent(name, () => {
    for (const row of table.filter(tries)) it(row.name, () => runCase(service, open(), row))
  })
}

function hasOptions({ steps }: Case): boolean {
  return steps.flat().some(({ options }) => options !== undefined)
}
