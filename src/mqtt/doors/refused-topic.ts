import type { Access } from '../../access/access.ts'
import type { Principal } from '../../access/principal.ts'
import type { Redactor } from '../../core/refusals/redactor.ts'
import { isWithin } from '../../core/topics/topic-filter.ts'
import type { TopicGrant } from '../../core/topics/topic-grant.ts'
import type { Connection } from '../connection/connection.ts'
import { refOfThingTopic } from '../topics.ts'

/** Characters of a topic, or of a list of topics, in a message. */
const longestTold = 200

/** A topic or filter for people: without the token of a thing, or what else could be a credential. */
export function toldTopic(topic: string, redactor: Redactor): string {
  const ref = refOfThingTopic(topic)
  const shown = ref === undefined ? topic : topic.replace(ref, '<ref>')
  return `\`${redactor.redact(shown, longestTold)}\``
}

/**
 * For people: why a client may not use a topic or filter beside those of things on a server that relays some, and what to do.
 *
 * @returns sentences that follow a colon
 */
export async function whyNotGranted(
  { principal, relayed }: Pick<Connection, 'principal' | 'relayed'>,
  use: TopicGrant['access'],
  topic: string,
  access: Access,
): Promise<string> {
  const served = await access.topicsOf({ kind: 'admin' })
  if (!served.some(({ filter }) => isWithin(topic, filter)))
    return 'it is not within the option `topics` of the server.'
  const own = (relayed?.grants ?? []).filter(grant => grant.access === use).map(({ filter }) => filter)
  const list = access.redactor.redact(own.join(', ') || 'none', longestTold)
  const doing = use === 'read' ? 'subscribe to' : 'publish on'
  return `its topics to ${doing} are ${list}. ${adviceTo(principal, use)}`
}

function adviceTo(principal: Principal | undefined, use: TopicGrant['access']): string {
  const given = `--${use}-topic …`
  if (!principal) return 'Only a client that connects with a credential is given topics.'
  if (principal.kind === 'thing')
    return `\`thingwire things topics ${principal.thingId} ${given}\` gives it others, in the place of all that it has.`
  return `Those of a session do not change: \`thingwire sessions create ${given}\` makes another one.`
}
