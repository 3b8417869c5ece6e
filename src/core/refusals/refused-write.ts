import type { RefusedWrite } from '../ports.ts'
import { formatDatetime } from '../record/datetime.ts'

/** Most refused writes of a thing that are kept (contract §6). */
export const keptRefusals = 100

/** An item of `GET …/errors` (contract §6), and a message on `errors` (§7). */
export function describeRefusedWrite(refused: RefusedWrite) {
  const { datetime, door, reason, message, count, errors, id, excerpt } = refused
  return { datetime: formatDatetime(datetime), door, reason, message, count, errors, id, excerpt }
}
