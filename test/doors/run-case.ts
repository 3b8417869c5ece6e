import { expect } from 'vitest'
import { createThing } from '../helpers/http-client.ts'
import type { Case, Step } from './case.ts'
import type { Answer, Door, ReadRecord } from './door.ts'
import { ReadBack } from './read-back.ts'
import type { Service } from './service.ts'

/** Looked into whether or not a case writes there: a refused write must have left nothing. */
const usualKeys = ['reading', '$geo', '$settings']

/** Sends the writes of a case through a door, and holds every answer and what is kept against the table. */
export async function runCase(service: Service, door: Door, row: Case): Promise<void> {
  try {
    await tryCase(service, door, row)
  } catch (error) {
    await door.close().catch(() => {})
    throw error
  }
  await door.close()
}

async function tryCase(service: Service, door: Door, { steps, records }: Case): Promise<void> {
  const thing = await createThing(service)
  const readBack = new ReadBack(service, thing)
  const begun = Date.now()
  const sent: Step[] = []
  for (const step of steps) {
    const together = 'answer' in step ? [step] : step
    const answers = await Promise.all(together.map(each => door.write(thing, each)))
    expect(answers).toEqual(together.map(({ answer }) => through(door, answer)))
    sent.push(...together)
  }

  expect(await ordinary(readBack.keys())).toEqual(await ordinary(Object.keys(records)))
  for (const key of new Set([...usualKeys, ...Object.keys(records)])) {
    const ascending = await readBack.records(key, 'asc')
    const expected = records[key] ?? []
    expect(withoutReceipt(ascending, expected, begun)).toEqual(expected)
    expect(await readBack.records(key, 'desc')).toEqual(ascending.toReversed())
  }
  expect((await readBack.refusedWrites()).map(summary)).toEqual(refusedOf(sent, door).toReversed())
}

/** What a client learns through this door: over MQTT nothing names the refused records of a write that was taken. */
function through({ kind }: Door, answer: Answer): Answer {
  return kind === 'mqtt' && 'created' in answer ? { created: true } : answer
}

/** Keys in a fixed order, less the settings: those are named as one document, not by what was written. */
async function ordinary(keys: Promise<readonly string[]> | readonly string[]): Promise<readonly string[]> {
  return (await keys).filter(key => !key.startsWith('$settings')).toSorted()
}

/** Puts `receipt` in the place of each expected receipt time that lies between the first write and now. */
function withoutReceipt(read: readonly ReadRecord[], expected: readonly ReadRecord[], begun: number) {
  const now = Date.now()
  return read.map((record, index) => {
    const datetime = Date.parse(record.datetime)
    const isReceipt = expected[index]?.datetime === 'receipt' && datetime >= begun && datetime <= now
    return isReceipt ? { ...record, datetime: 'receipt' } : record
  })
}

type Refused = Pick<
  Awaited<ReturnType<ReadBack['refusedWrites']>>[number],
  'door' | 'reason' | 'errors' | 'id'
>

function summary({ door, reason, errors, id }: Refused) {
  const named = errors?.map(({ index, field, reason }) => ({ index, field, reason }))
  return { door, reason, errors: named, id }
}

function refusedOf(steps: readonly Step[], { kind }: Door) {
  return steps.flatMap(({ answer, options }) =>
    'refused' in answer
      ? [{ door: kind, reason: answer.refused, errors: answer.errors, id: options?.id }]
      : [],
  )
}
