import type { Redactor } from '../core/refusals/redactor.ts'
import { refOfThingTopic } from './topics.ts'

/** Characters of a topic, or of a list of topics, in a message. */
export const longestTold = 200

/** A topic or filter for people: without the token of a thing, or what else could be a credential. */
export function toldTopic(topic: string, redactor: Redactor): string {
  const ref = refOfThingTopic(topic)
  const shown = ref === undefined ? topic : topic.replace(ref, '<ref>')
  return `\`${redactor.redact(shown, longestTold)}\``
}
