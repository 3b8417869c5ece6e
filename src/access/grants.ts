import { faultOfGrant, maximumGrants, type TopicGrant } from '../core/topics/topic-grant.ts'
import { ThingwireError } from '../errors.ts'

/** @param served filters of the option `topics`. @throws ThingwireError invalid_body */
export function assertGrants(grants: readonly TopicGrant[], served: readonly string[]): void {
  if (grants.length > maximumGrants) {
    throw new ThingwireError('invalid_body', `topics must be at most ${maximumGrants} entries`)
  }
  for (const grant of grants) {
    const fault = faultOfGrant(grant, served)
    if (fault !== undefined) throw new ThingwireError('invalid_body', `topics: ${fault}`)
  }
}
