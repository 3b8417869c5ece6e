import type { Operation } from '../operation/operation.ts'
import { queryParameter } from '../operation/parameters.ts'
import { ofCredential } from '../operation/refusals.ts'
import { thingPage, thingPageParameters } from '../operation/thing-page.ts'

export const listVisibleThings: Operation = {
  id: 'listVisibleThings',
  group: 'Things',
  summary: 'List the things that the credential may read',
  credential: 'any',
  parameters: [...thingPageParameters, queryParameter('thingId', 'Only this thing.', 'mzxw6ytboi4dcmjs')],
  answers: { 200: thingPage },
  refusals: [...ofCredential, 'invalid_query', 'invalid_limit', 'invalid_cursor'],
}
