import { formatValue } from '../resources/format-value.ts'
import { keyOfTopic } from '../values-topic.ts'

/** Maximum number of characters of a value that are shown. */
const longestValue = 80

/** The text to show for a live message of a thing's values; undefined if the message does not prove that a device wrote. */
export function receivedText(topic: string, payload: unknown, isRetained: boolean): string | undefined {
  const key = keyOfTopic(topic)
  // A retained message was written before. A message without payload is a deletion.
  if (key === undefined || isRetained || payload === undefined) return undefined
  const value = formatValue((payload as { readonly value: unknown }).value)
  const shown = value.length > longestValue ? `${value.slice(0, longestValue)}…` : value
  return `Received: ${key} ${shown}`
}

/** The part of a message on `things/<id>/errors` that is used here (contract §6). */
interface RefusedWrite {
  readonly reason: string
  readonly message: string
  readonly errors?: readonly { readonly reason: string; readonly message: string }[]
}

/** The text to show for a refused write. The first fault is more exact than the reason of the whole write. */
export function refusedText(payload: unknown): string {
  const write = payload as RefusedWrite
  const { reason, message } = write.errors?.[0] ?? write
  return `Refused: ${message} (${reason})`
}
