import { isTopicFilter, isWithin } from './topic-filter.ts'

/** Topics beside those of things that a principal may use: `read` to subscribe, `write` to publish. Neither includes the other. */
export type TopicGrant = {
  readonly filter: string
  readonly access: 'read' | 'write'
}

/** Most grants of one principal. */
export const maximumGrants = 100
/** Bytes. */
const longestFilter = 1_024

/** Whether everything that a filter matches may be read. */
export function mayRead(grants: readonly TopicGrant[], filter: string): boolean {
  return grants.some(grant => grant.access === 'read' && isWithin(filter, grant.filter))
}

export function mayWrite(grants: readonly TopicGrant[], topic: string): boolean {
  return grants.some(grant => grant.access === 'write' && isWithin(topic, grant.filter))
}

/** Whether one of the grants before allows more than all of these. */
export function isNarrower(grants: readonly TopicGrant[], before: readonly TopicGrant[]): boolean {
  const isCovered = ({ filter, access }: TopicGrant) =>
    grants.some(grant => grant.access === access && isWithin(filter, grant.filter))
  return !before.every(isCovered)
}

/** Those of the grants whose topics are served. */
export function servedGrants(
  grants: readonly TopicGrant[],
  served: readonly string[],
): readonly TopicGrant[] {
  return grants.filter(({ filter }) => served.some(outer => isWithin(filter, outer)))
}

/** What is wrong with the filter of a grant; undefined: nothing. @param served filters of the option `topics` */
export function faultOfGrant({ filter }: TopicGrant, served: readonly string[]): string | undefined {
  if (served.length === 0) return 'the server serves no topics beside those of things: set its option topics'
  if (!isTopicFilter(filter) || hasForbiddenCharacter(filter)) return `${filter} is no topic filter`
  if (Buffer.byteLength(filter) > longestFilter) return `a filter has at most ${longestFilter} bytes`
  if (served.some(outer => isWithin(filter, outer))) return undefined
  return `${filter} is not within the option topics (${served.join(', ')})`
}

/**
 * Whether a filter may be served beside the topics of things: its first level is a name, and not one of ours, nor one that begins
 * with `$`, which belong to the broker.
 */
export function isServable(filter: string): boolean {
  const [first = ''] = filter.split('/', 1)
  return (
    isTopicFilter(filter) &&
    !hasForbiddenCharacter(filter) &&
    Buffer.byteLength(filter) <= longestFilter &&
    !/^(\+|#|things|v2|\$.*)$/s.test(first)
  )
}

/** NUL, or half of a character: no topic has them (MQTT-1.5.3-1, -2). */
function hasForbiddenCharacter(filter: string): boolean {
  return filter.includes('\0') || Buffer.from(filter).toString() !== filter
}
