import { hasForbiddenCharacter, isTopicFilter, isTopicName, isWithin, spelledOut } from './topic-filter.ts'

/** Allows a principal to subscribe to topics that belong to no thing (`read`), or to publish on them (`write`; contract §7.10). */
export type TopicGrant = {
  readonly filter: string
  readonly access: 'read' | 'write'
}

/** Maximum number of grants of one principal. */
export const maximumGrants = 100
/** Maximum length of a filter, bytes. */
const longestFilter = 1_024

/** Whether the grants allow reading every topic that matches a filter. @param filter a filter or a single topic */
export function mayRead(grants: readonly TopicGrant[], filter: string): boolean {
  if (hasForbiddenCharacter(filter)) return false
  return grants.some(grant => grant.access === 'read' && isWithin(filter, grant.filter))
}

export function mayWrite(grants: readonly TopicGrant[], topic: string): boolean {
  return isTopicName(topic) && grants.some(grant => grant.access === 'write' && isWithin(topic, grant.filter))
}

/** Whether the new grants lack a right that the former grants included. */
export function isNarrower(grants: readonly TopicGrant[], before: readonly TopicGrant[]): boolean {
  const isCovered = ({ filter, access }: TopicGrant) =>
    grants.some(grant => grant.access === access && isWithin(filter, grant.filter))
  return !before.every(isCovered)
}

/** The grants for topics that the server serves. @param served the server's `topics` option */
export function servedGrants(
  grants: readonly TopicGrant[],
  served: readonly string[],
): readonly TopicGrant[] {
  return grants.filter(({ filter }) => served.some(outer => isWithin(filter, outer)))
}

/** What is wrong with a grant's filter; undefined if it is valid. @param served the server's `topics` option */
export function faultOfGrant({ filter }: TopicGrant, served: readonly string[]): string | undefined {
  if (served.length === 0)
    return 'the server serves no topics besides those of things: set its option topics, or add a source'
  if (hasForbiddenCharacter(filter)) return hasForbidden(filter)
  if (!isTopicFilter(filter)) return `${filter} is not a topic filter`
  if (Buffer.byteLength(filter) > longestFilter) return `a filter has at most ${longestFilter} bytes`
  const [first] = filter.split('/')
  if (first === 'things' || first === 'v2') return `${filter} begins with ${first}, which is Thingwire's`
  if (served.some(outer => isWithin(filter, outer))) return undefined
  return `${filter} is not within the option topics or the topics of a source (${served.join(', ')})`
}

/**
 * What is wrong with a filter in the server's `topics` option; undefined if it is valid. The first level must not be a wildcard,
 * `things` or `v2`, and must not begin with `$`, which is reserved for the broker.
 */
export function faultOfServed(filter: string): string | undefined {
  const levels = filter.split('/')
  const [first = ''] = levels
  if (filter === '') return 'an empty text is not a topic filter (is there an extra comma?)'
  if (hasForbiddenCharacter(filter)) return hasForbidden(filter)
  if (Buffer.byteLength(filter) > longestFilter) return `a filter has at most ${longestFilter} bytes`
  if (levels.slice(0, -1).includes('#')) return `${filter}: # must be the last level`
  if (levels.some(level => level.length > 1 && /[+#]/.test(level)))
    return `${filter}: a wildcard must be a level of its own`
  if (!isTopicFilter(filter)) return `${filter} has too many levels`
  if (first === '+' || first === '#') return `${filter} begins with a wildcard`
  if (first === 'things' || first === 'v2') return `${filter} begins with ${first}, which is Thingwire's`
  if (first.startsWith('$')) return `${filter} begins with $, which is the broker's`
  return undefined
}

/** What is wrong with a filter in the topics of a source; undefined if it is valid. `#` is every topic that is not Thingwire's. */
export function faultOfSourceTopic(filter: string): string | undefined {
  return filter === '#' ? undefined : faultOfServed(filter)
}

const hasForbidden = (filter: string) => `"${spelledOut(filter)}" has a character that no topic may have`
