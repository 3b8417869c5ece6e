import type { Redactor } from '../core/refusals/redactor.ts'
import { faultOfGrant, maximumGrants, type TopicGrant } from '../core/topics/topic-grant.ts'
import { ThingwireError } from '../errors.ts'

/** @throws ThingwireError invalid_body */
export type AssertGrants = (grants: readonly TopicGrant[]) => void

/** @param served the filters of the server's `topics` option and of all sources @param redactor redacts filters that error messages quote */
export function grantsWithin(served: () => readonly string[], redactor: Redactor): AssertGrants {
  return grants => assertGrants(grants, served(), redactor)
}

function assertGrants(grants: readonly TopicGrant[], served: readonly string[], redactor: Redactor): void {
  if (grants.length > maximumGrants) {
    throw new ThingwireError('invalid_body', `topics must have at most ${maximumGrants} entries`)
  }
  for (const grant of grants) {
    const fault = faultOfGrant(grant, served)
    if (fault !== undefined) throw new ThingwireError('invalid_body', `topics: ${redactor.redact(fault)}`)
  }
}
