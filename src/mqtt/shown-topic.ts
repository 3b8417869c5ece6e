import type { Redactor } from '../core/refusals/redactor.ts'
import { spelledOut } from '../core/topics/topic-filter.ts'
import { refOfThingTopic } from './topics.ts'

/** Characters of a topic, or of a list of topics, in a message. */
export const longestShown = 200

/** Why a topic or filter with an escaped character is refused. */
export const forbiddenCharacter =
  'clients of libmosquitto, such as mosquitto_sub, are cut off by a topic with a control character or a noncharacter.'

/** A topic or filter for people: without the token of a thing, or what else could be a credential. */
export function shownTopic(topic: string, redactor: Redactor): string {
  // First, since an admin key may have slashes: without what stands in the place of the thing, its end would not be known.
  const redacted = redactor.redact(topic, longestShown)
  const ref = refOfThingTopic(redacted)
  return `\`${spelledOut(ref === undefined ? redacted : redacted.replace(ref, '<ref>'))}\``
}
