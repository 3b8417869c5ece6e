import type { FastifyInstance } from 'fastify'
import type { Principal } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import type { HttpThings } from '../http-things.ts'
import type { Operation } from '../operation/operation.ts'
import { queryParameter } from '../operation/parameters.ts'
import { ofCredential } from '../operation/refusals.ts'
import { thingPageAnswer, thingPageParameters } from '../operation/thing-page.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { thingPage } from '../reply/thing-page.ts'
import { credentialOf } from '../request/credential.ts'
import { Query } from '../request/query.ts'

export const listVisibleThings: Operation = {
  id: 'listVisibleThings',
  group: 'Things',
  summary: 'List the things that the credential may read',
  credential: 'any',
  parameters: [...thingPageParameters, queryParameter('thingId', 'Only this thing.', 'mzxw6ytboi4dcmjs')],
  answers: { 200: thingPageAnswer },
  refusals: [...ofCredential, 'invalid_query', 'invalid_limit', 'invalid_cursor'],
}

/** `GET /v2/things`: the things that the credential may read. With `thingId`, only that thing, if the credential may read it. */
export function visibleThingsRoute(
  scope: FastifyInstance,
  { access, registry, costlyReads }: HttpThings,
): void {
  jsonRoute(scope, 'GET', '/things', listVisibleThings, async request => {
    const principal = await access.identify(credentialOf(request))
    const query = new Query(request)
    const visible = visibleTo(principal)
    const thingId = query.text('thingId')
    const among = thingId === undefined ? visible : only(thingId, visible)
    return await costlyReads.run(principalName(principal), () => thingPage(registry, query, among))
  })
}

/** @returns the ids of the visible things; undefined if every thing is visible */
function visibleTo(principal: Principal): ReadonlySet<string> | undefined {
  switch (principal.kind) {
    case 'admin':
      return undefined
    case 'session':
      return principal.things === '*' ? undefined : principal.things
    case 'source':
      return new Set()
    case 'thing':
      return new Set([principal.thingId])
  }
}

function only(thingId: string, visible: ReadonlySet<string> | undefined): ReadonlySet<string> {
  return new Set(visible && !visible.has(thingId) ? [] : [thingId])
}
