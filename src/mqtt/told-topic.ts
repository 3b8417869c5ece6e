import type { Redactor } from '../core/refusals/redactor.ts'
import { refOfThingTopic } from './topics.ts'

/** Characters of a topic, or of a list of topics, in a message. */
export const longestTold = 200

/** A topic or filter for people: without the token of a thing, or what else could be a credential. */
export function toldTopic(topic: string, redactor: Redactor): string {
  // First, since an admin key may have slashes: without what stands in the place of the thing, its end would not be known.
  const redacted = redactor.redact(topic, longestTold)
  const ref = refOfThingTopic(redacted)
  return `\`${ref === undefined ? redacted : redacted.replace(ref, '<ref>')}\``
}
