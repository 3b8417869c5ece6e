import type { Access } from '../../access/access.ts'
import type { Principal } from '../../access/principal.ts'
import { hasForbiddenCharacter, isWithin } from '../../core/topics/topic-filter.ts'
import type { TopicGrant } from '../../core/topics/topic-grant.ts'
import { ThingwireError } from '../../errors.ts'
import type { Connection } from '../connection/connection.ts'
import { forbiddenCharacter, longestShown, shownTopic } from '../shown-topic.ts'

/** The refusal of a publish on a topic of a thing. @param cause why the client may not write there; undefined if nobody may */
export function notAWriteTopic(
  topic: string,
  cause: ThingwireError | undefined,
  access: Access,
): ThingwireError {
  const why = cause
    ? `does not belong to a thing that this client may write to (${cause.message})`
    : 'accepts no writes'
  const own = '`things/<token>/write`, with a session or the admin key `things/<thing id>/write`'
  const text = (name: string) => `${name} ${why}: publish on ${own}.`
  const message = text(shownTopic(topic, access.redactor))
  return new ThingwireError('not_a_write_topic', message, { cause, toSender: text('the topic') })
}

/** The refusal of a publish on a topic that is not Thingwire's; undefined if the server serves no such topics. */
export async function notAnotherTopic(
  connection: Connection,
  topic: string,
  access: Access,
): Promise<ThingwireError | undefined> {
  const refusal = await whyNotGranted(connection, 'write', topic, access)
  if (!refusal) return undefined
  const { why, cause } = refusal
  const text = (name: string) => `this client may not publish on ${name}: ${why}`
  const message = text(shownTopic(topic, access.redactor))
  return new ThingwireError('not_a_write_topic', message, { cause, toSender: text('this topic') })
}

interface NotGranted {
  /** Sentences to put after a colon: why, and what to do about it. */
  readonly why: string
  /** Set if other clients may use the topic. */
  readonly cause?: ThingwireError
}

/** Why a client may not use a topic that is not Thingwire's; undefined if the server serves no such topics. */
export async function whyNotGranted(
  { principal, relayed }: Pick<Connection, 'principal' | 'relayed'>,
  use: TopicGrant['access'],
  topic: string,
  access: Access,
): Promise<NotGranted | undefined> {
  const served = await access.topicsOf({ kind: 'admin' })
  if (served.length === 0) return undefined
  if (hasForbiddenCharacter(topic)) return { why: forbiddenCharacter }
  if (!served.some(({ filter }) => isWithin(topic, filter)))
    return { why: 'not within the option `topics` of the server or the topics of a source.' }
  const own = (relayed?.grants ?? []).filter(grant => grant.access === use).map(({ filter }) => filter)
  const doing = use === 'read' ? 'subscribe to' : 'publish on'
  const advice = adviceTo(principal, use)
  const may =
    own.length === 0
      ? `it may ${doing} no topics besides those of things`
      : `the topics that it may ${doing} are ${access.redactor.redact(own.join(', '), longestShown)}`
  return { why: `${may}. ${advice}`, cause: new ThingwireError('forbidden') }
}

function adviceTo(principal: Principal | undefined, use: TopicGrant['access']): string {
  const given = `--${use}-topic …`
  if (!principal) return 'Only a client that connects with a credential can be given topics.'
  if (principal.kind === 'thing')
    return `\`thingwire things topics ${principal.thingId} ${given}\` replaces all its topics.`
  if (principal.kind === 'source')
    return `\`thingwire sources set ${principal.sourceId} --topic …\` replaces all its topics.`
  return `The topics of a session cannot be changed: \`thingwire sessions create ${given}\` creates a new session.`
}
