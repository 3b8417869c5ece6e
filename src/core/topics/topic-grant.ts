import { hasForbiddenCharacter, isTopicFilter, isTopicName, isWithin, spelledOut } from './topic-filter.ts'

/** A right of a principal to other topics: `read` to subscribe, `write` to publish. Neither includes the other. */
export type TopicGrant = {
  readonly filter: string
  readonly access: 'read' | 'write'
}

/** Most grants of one principal. */
export const maximumGrants = 100
/** Bytes. */
const longestFilter = 1_024

/** Whether the grants allow to read every topic that a filter, or topic, matches. */
export function mayRead(grants: readonly TopicGrant[], filter: string): boolean {
  if (hasForbiddenCharacter(filter)) return false
  return grants.some(grant => grant.access === 'read' && isWithin(filter, grant.filter))
}

export function mayWrite(grants: readonly TopicGrant[], topic: string): boolean {
  return isTopicName(topic) && grants.some(grant => grant.access === 'write' && isWithin(topic, grant.filter))
}

/** Whether the new grants lack a right of the former ones. */
export function isNarrower(grants: readonly TopicGrant[], before: readonly TopicGrant[]): boolean {
  const isCovered = ({ filter, access }: TopicGrant) =>
    grants.some(grant => grant.access === access && isWithin(filter, grant.filter))
  return !before.every(isCovered)
}

/** The grants whose topics are served. */
export function servedGrants(
  grants: readonly TopicGrant[],
  served: readonly string[],
): readonly TopicGrant[] {
  return grants.filter(({ filter }) => served.some(outer => isWithin(filter, outer)))
}

/** The fault of a grant's filter; undefined: it is valid. @param served filters of the option `topics` */
export function faultOfGrant({ filter }: TopicGrant, served: readonly string[]): string | undefined {
  if (served.length === 0) return 'the server serves no topics beside those of things: set its option topics'
  if (hasForbiddenCharacter(filter)) return hasForbidden(filter)
  if (!isTopicFilter(filter)) return `${filter} is no topic filter`
  if (Buffer.byteLength(filter) > longestFilter) return `a filter has at most ${longestFilter} bytes`
  if (served.some(outer => isWithin(filter, outer))) return undefined
  return `${filter} is not within the option topics (${served.join(', ')})`
}

/**
 * The fault of a filter of the option `topics`, for people; undefined: it is valid. Its first level must be no wildcard, not one of
 * Thingwire's, and not begin with `$`, which belongs to the broker.
 */
export function faultOfServed(filter: string): string | undefined {
  const levels = filter.split('/')
  const [first = ''] = levels
  if (filter === '') return 'an empty text is no topic filter (is there a comma too many?)'
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

const hasForbidden = (filter: string) => `"${spelledOut(filter)}" has a character that no topic may have`
