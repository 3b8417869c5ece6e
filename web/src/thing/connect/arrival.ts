import { formatValue } from '../resources/format-value.ts'
import { keyOfTopic } from '../values-topic.ts'

/** Characters of a value that still stand on a line. */
const longestValue = 80

/** What a live message of a thing's values says of its device; undefined if it says nothing of one. */
export function receivedText(topic: string, payload: unknown, isRetained: boolean): string | undefined {
  const key = keyOfTopic(topic)
  // What is retained was written before; without a payload something was deleted.
  if (key === undefined || isRetained || payload === undefined) return undefined
  const value = formatValue((payload as { readonly value: unknown }).value)
  const shown = value.length > longestValue ? `${value.slice(0, longestValue)}…` : value
  return `Received: ${key} ${shown}`
}

/** Of a message on `things/<id>/errors` (contract §6), what is read here. */
interface RefusedWrite {
  readonly reason: string
  readonly message: string
  readonly errors?: readonly { readonly reason: string; readonly message: string }[]
}

/** What a message of a thing's errors says: the first fault, which is more exact than the whole write's. */
export function refusedText(payload: unknown): string {
  const write = payload as RefusedWrite
  const { reason, message } = write.errors?.[0] ?? write
  return `Refused: ${message} (${reason})`
}
