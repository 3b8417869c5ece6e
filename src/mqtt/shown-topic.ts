import type { Redactor } from '../core/refusals/redactor.ts'
import { spelledOut } from '../core/topics/topic-filter.ts'
import { refOfThingTopic } from './topics.ts'

/** Characters of a topic, or of a list of topics, that an error message shows. */
export const longestShown = 200

/** Why a topic or filter with an escaped character is refused. */
export const forbiddenCharacter =
  'clients of libmosquitto, such as mosquitto_sub, are cut off by a topic with a control character or a noncharacter.'

/** A topic or filter for error messages: without the thing's token and anything else that may be a credential. */
export function shownTopic(topic: string, redactor: Redactor): string {
  // Redact first: an admin key may contain slashes, so replacing the ref first would leave the rest of the key.
  const redacted = redactor.redact(topic, longestShown)
  const ref = refOfThingTopic(redacted)
  return `\`${spelledOut(ref === undefined ? redacted : redacted.replace(ref, '<ref>'))}\``
}
