import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Case } from './case.ts'
import { cases } from './cases/index.ts'
import type { Door } from './door.ts'
import { httpDoor } from './http-door.ts'
import { mqttDoor } from './mqtt-door.ts'
import { runCase } from './run-case.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

interface DoorUnderTest {
  readonly name: string
  /** @param index of the row in the table */
  readonly open: (index: number) => Door
  /** Whether the door has anything to do with the case that another one has not. */
  readonly tries: (row: Case) => boolean
}

const http: DoorUnderTest = {
  name: 'HTTP, options in the query',
  open: () => httpDoor(service.url, 'query'),
  tries: () => true,
}
const [mqtt, ...otherMqtt] = (['mqttUrl', 'webSocketUrl'] as const).flatMap((url, transport) =>
  // That of which the store has most to keep first.
  ([2, 1, 0] as const).map(
    (qos): DoorUnderTest => ({
      name: `MQTT QoS ${qos} over ${transport === 0 ? 'TCP' : 'WebSocket'}`,
      open: index => mqttDoor(service, { url: service[url], qos, variant: index + qos + transport }),
      tries: () => true,
    }),
  ),
) as [DoorUnderTest, ...DoorUnderTest[]]
const others: readonly DoorUnderTest[] = [
  { name: 'HTTP, options in the body', open: () => httpDoor(service.url, 'body'), tries: hasOptions },
  ...otherMqtt,
]
const doors = inject('doors') === 'all' ? [http, mqtt, ...others] : [http, mqtt]
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
    for (const [index, row] of table.filter(tries).entries()) {
      it(row.name, () => runCase(service, open(index), row))
    }
  })
}

function hasOptions({ steps }: Case): boolean {
  return steps.flat().some(({ options }) => options !== undefined)
}
