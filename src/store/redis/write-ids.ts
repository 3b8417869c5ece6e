import type { WriteAnswer } from '../contract.ts'
import { digestOf, rememberedFor, rememberedIds } from '../resend.ts'
import type { RedisDatabase } from './connection/database.ts'

const form = /^(\d+):(\d+):(.*)$/s

/** The answer of the write of the thing that carried the id, if it is remembered at `now`. */
export async function answerOf(
  database: RedisDatabase,
  thingId: string,
  id: string,
  now: number,
): Promise<WriteAnswer | undefined> {
  const { keys } = database
  const found = await database.call('HMGET', keys.writeIds(thingId), digestOf(id), '#')
  const [known, newest] = found as readonly (Buffer | null)[]
  const [, ordinal, receivedAt, answer] = form.exec(known?.toString() ?? '') ?? []
  if (answer === undefined) return undefined
  const isForgotten =
    Number(ordinal) <= Number(newest) - rememberedIds || Number(receivedAt) < now - rememberedFor
  return isForgotten ? undefined : (JSON.parse(answer) as WriteAnswer)
}
