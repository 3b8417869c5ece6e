import type { FastifyInstance, FastifyRequest, preHandlerHookHandler } from 'fastify'
import type { Redactor } from '../core/refusals/redactor.ts'
import { isToken } from '../core/token.ts'
import type { CredentialKind } from './operation/operation.ts'
import { credentialOf } from './request/credential.ts'
import type { JsonBodies } from './request/json-bodies.ts'
import { Query } from './request/query.ts'
import { isBodyAnnounced } from './request/request-body.ts'
import { activateThing } from './routes/activation.ts'
import { writeRecords } from './routes/write.ts'

/** Firmware adds parameters and members of its own to them (contract §3). */
const tolerant = [writeRecords, activateThing]

/**
 * Makes every other request refuse a query parameter that its operation does not name, and a body where it names none: a
 * misspelled `startDate`, or one in a body, would remove everything.
 */
export function refuseUnknown(v2: FastifyInstance, bodies: JsonBodies, redactor: Redactor): void {
  v2.addHook('onRoute', route => {
    const { operation } = route.config ?? {}
    if (!operation || tolerant.includes(operation)) return
    const { credential, parameters = [], body } = operation
    const names = parameters.flatMap(each => (each.in === 'query' ? each.name : []))
    if (credential === 'stream') names.push('session')
    if (credential === 'token') names.push('thingToken')
    const refuse: preHandlerHookHandler = (request, _reply, done) => {
      const hasQuery = request.raw.url?.includes('?') === true
      const hasStrayBody = !body && isBodyAnnounced(request)
      // Who gives no credential learns that first.
      if (!(hasQuery || hasStrayBody) || !isGiven(credential, request)) return done()
      if (hasQuery) new Query(request).refuseOthers(names, redactor)
      if (hasStrayBody) bodies.refuse(request, names).then(() => done(), done)
      else done()
    }
    route.preHandler = [route.preHandler ?? [], refuse].flat()
  })
}

function isGiven(credential: CredentialKind, request: FastifyRequest): boolean {
  const { ref = '' } = request.params as { readonly ref?: string }
  if (credential === 'token' || credential === 'none' || isToken(ref)) return true
  return credentialOf(request) !== undefined || (credential === 'stream' && new Query(request).has('session'))
}
