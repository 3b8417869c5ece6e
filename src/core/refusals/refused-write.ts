import type { RefusedWrite } from '../ports.ts'
import { formatDatetime } from '../record/datetime.ts'

/** Maximum number of refused writes that are kept for a thing (contract §6). */
export const keptRefusals = 100

/** A refused write as an item of `GET …/errors` (contract §6) and as a message on the topic `errors` (§7). */
export function describeRefusedWrite(refused: RefusedWrite) {
  const { datetime, door, reason, message, count, errors, id, excerpt } = refused
  return { datetime: formatDatetime(datetime), door, reason, message, count, errors, id, excerpt }
}
