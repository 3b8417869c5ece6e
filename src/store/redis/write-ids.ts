import type { WriteAnswer } from '../contract.ts'
import { digestOfWriteId, rememberedFor, rememberedIds } from '../write-id.ts'
import type { Partition } from './connection/partition.ts'

const form = /^(\d+):(\d+):(.*)$/s

/** The answer of the write of the thing that carried the id, if it is remembered at `now`. */
export async function answerOf(
  partition: Partition,
  thingId: string,
  id: string,
  now: number,
): Promise<WriteAnswer | undefined> {
  const { keys } = partition
  const found = await partition.call('HMGET', keys.writeIds(thingId), digestOfWriteId(id), '#')
  const [known, newest] = found as readonly (Buffer | null)[]
  const [, ordinal, receivedAt, answer] = form.exec(known?.toString() ?? '') ?? []
  if (answer === undefined) return undefined
  const isForgotten =
    Number(ordinal) <= Number(newest) - rememberedIds || Number(receivedAt) < now - rememberedFor
  return isForgotten ? undefined : (JSON.parse(answer) as WriteAnswer)
}
