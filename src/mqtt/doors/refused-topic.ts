import type { Access } from '../../access/access.ts'
import type { Principal } from '../../access/principal.ts'
import { hasForbiddenCharacter, isWithin } from '../../core/topics/topic-filter.ts'
import type { TopicGrant } from '../../core/topics/topic-grant.ts'
import type { Connection } from '../connection/connection.ts'
import { forbiddenCharacter, longestShown } from '../shown-topic.ts'

/** @returns sentences to put after a colon: why a client may not use a topic that is not Thingwire's, and what to do about it */
export async function whyNotGranted(
  { principal, relayed }: Pick<Connection, 'principal' | 'relayed'>,
  use: TopicGrant['access'],
  topic: string,
  access: Access,
): Promise<string> {
  if (hasForbiddenCharacter(topic)) return forbiddenCharacter
  const served = await access.topicsOf({ kind: 'admin' })
  if (!served.some(({ filter }) => isWithin(topic, filter)))
    return 'not within the option `topics` of the server.'
  const own = (relayed?.grants ?? []).filter(grant => grant.access === use).map(({ filter }) => filter)
  const list = access.redactor.redact(own.join(', ') || 'none', longestShown)
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
