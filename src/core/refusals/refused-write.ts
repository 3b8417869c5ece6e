import type { RefusedWrite } from '../ports.ts'
import { formatDatetime } from '../record/datetime.ts'

/** How many refused writes of a thing are kept (contract §6). */
export const keptRefusals = 100

/** A refused write as clients see it: an item of `GET …/errors` (contract §6), a message on `errors` (§7). */
export function describeRefusedWrite(refused: RefusedWrite) {
  const { datetime, door, reason, message, count, errors, id, excerpt } = refused
  return { datetime: formatDatetime(datetime), door, reason, message, count, errors, id, excerpt }
}
