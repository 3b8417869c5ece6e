import type { Redactor } from '../core/refusals/redactor.ts'
import { spelledOut } from '../core/topics/topic-filter.ts'
import { refOfThingTopic } from './topics.ts'

/** Maximum number of characters of a topic, or of a list of topics, that an error message shows. */
export const longestShown = 200

/** Why a topic or filter with a character that has to be escaped is refused. */
export const forbiddenCharacter =
  'a topic with a control character or a noncharacter would disconnect clients that use libmosquitto, such as mosquitto_sub.'

/** A topic or filter for error messages, without the thing's token or anything else that may be a credential. */
export function shownTopic(topic: string, redactor: Redactor): string {
  // Redaction comes first: an admin key may contain slashes, so replacing the ref first would leave the rest of the key.
  const redacted = redactor.redact(topic, longestShown)
  const ref = refOfThingTopic(redacted)
  return `\`${spelledOut(ref === undefined ? redacted : redacted.replace(ref, '<ref>'))}\``
}
