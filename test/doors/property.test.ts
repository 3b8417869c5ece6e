import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { anyWrite, unlistedKeys } from './any-write.ts'
import { MqttWriter, writerVariants } from './mqtt-writer.ts'
import { ReadBack, type ReadRecord, type RefusedWrite } from './read-back.ts'
import { type Service, startService } from './service.ts'

/** On Redis `npm run nodes` has the time for more. */
const runs = inject('store') === 'redis' ? 600 : 200
/** Generated writes of each run, all to one thing. */
const batches = { minLength: 2, maxLength: 4 }
/** Milliseconds, all runs together; a failure found by then is told with its seed and as small as it has got. */
const deadline = 240_000

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

type Refusal = Pick<RefusedWrite, 'reason' | 'message'> & { readonly errors: RefusedWrite['errors'] }

function refusalOf({
  reason,
  message,
  errors,
}: Omit<Refusal, 'errors'> & Pick<RefusedWrite, 'errors'>): Refusal {
  return { reason, message, errors }
}

async function writeOverHttp({ thingToken }: Thing, body: Buffer): Promise<Refusal | undefined> {
  const response = await fetch(`${service.url}/v2/things/${thingToken}`, { method: 'POST', body })
  const answer = await response.json()
  if (response.status === 201) return undefined
  expect(response.status).toBe(400)
  return refusalOf(answer as RefusedWrite)
}

/** Everything that is kept of a thing, less what the doors may differ in: receipt times, and the name of the door. */
async function keptOf(thing: Thing, begun: number) {
  const readBack = new ReadBack(service, thing)
  const [listed, refused] = await Promise.all([readBack.keys(), readBack.refusedWrites()])
  const keys = [...new Set([...listed, ...unlistedKeys])]
  const records = await Promise.all(keys.map(key => readBack.records(key, 'asc')))
  const ended = Date.now()
  return {
    listed,
    records: Object.fromEntries(
      keys.map((key, index) => [key, records[index]?.map(record => withoutReceipt(record, begun, ended))]),
    ),
    refused: refused.map(({ door: _door, datetime: _datetime, ...same }) => same),
    doors: new Set(refused.map(({ door }) => door)),
  }
}

/** No generated datetime is so near to now. */
function withoutReceipt(record: ReadRecord, begun: number, ended: number): ReadRecord {
  const time = Date.parse(record.datetime)
  return time >= begun && time <= ended ? { ...record, datetime: 'receipt' } : record
}

describe('the doors', () => {
  it('keep and refuse the same of the same bytes', async () => {
    const run = fc.record({
      bodies: fc.array(anyWrite, batches),
      qos: fc.constantFrom(0, 1, 2),
      url: fc.constantFrom('mqttUrl', 'webSocketUrl'),
      variant: fc.nat({ max: writerVariants - 1 }),
    })
    let taken = 0
    let refused = 0
    const property = fc.asyncProperty(run, async ({ bodies, qos, url, variant }) => {
      const [ofHttp, ofMqtt] = await Promise.all([createThing(service), createThing(service)])
      const begun = Date.now()
      const writer = await MqttWriter.open(service, ofMqtt, { url: service[url], qos, variant })
      try {
        for (const body of bodies) {
          const [overHttp, overMqtt] = await Promise.all([writeOverHttp(ofHttp, body), writer.write(body)])
          expect(overMqtt && refusalOf(overMqtt)).toEqual(overHttp)
          if (overHttp) refused++
          else taken++
        }
        await writer.close()
      } finally {
        await writer.destroy()
      }
      const [keptOfHttp, keptOfMqtt] = await Promise.all([keptOf(ofHttp, begun), keptOf(ofMqtt, begun)])
      expect(keptOfMqtt).toEqual({ ...keptOfHttp, doors: keptOfMqtt.doors })
      expect([...keptOfHttp.doors, ...keptOfMqtt.doors].join()).toMatch(/^(http,mqtt)?$/)
    })
    await fc.assert(property, {
      numRuns: runs,
      interruptAfterTimeLimit: deadline,
      markInterruptAsFailure: true,
    })
    expect(taken + refused).toBeGreaterThanOrEqual(1.6 * runs)
    // Neither kind of generated write is a handful.
    expect(Math.min(taken, refused)).toBeGreaterThan(runs / 3)
  })
})
