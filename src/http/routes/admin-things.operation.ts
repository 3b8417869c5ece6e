import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { thingIdParameter } from '../operation/parameters.ts'
import { ofAdmin, ofBody } from '../operation/refusals.ts'
import { success, thingId, thingToken } from '../operation/shapes.ts'
import { thingPage, thingPageParameters } from '../operation/thing-page.ts'

const thingName = z.string('must be a string').max(200, 'must be at most 200 characters')
const object = 'the body must be a JSON object'
export const createThingBody = z.object({ name: thingName.optional() }, object)
export const renameThingBody = z.object({ name: thingName }, object)

const done = json('Done.', success, { status: 'success' })

export const createThing: Operation = {
  id: 'createThing',
  group: 'Operator',
  summary: 'Create a thing',
  credential: 'admin',
  body: { schema: createThingBody, example: { name: 'boat' }, optional: true },
  answers: {
    201: json(
      'The token is shown only once.',
      z.object({ status: z.literal('created'), thingId, thingToken }),
      {
        status: 'created',
        thingId: 'mzxw6ytboi4dcmjs',
        thingToken: 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4',
      },
    ),
  },
  refusals: [...ofAdmin, ...ofBody],
}

export const listThings: Operation = {
  id: 'listThings',
  group: 'Operator',
  summary: 'List all things',
  credential: 'admin',
  parameters: thingPageParameters,
  answers: { 200: thingPage },
  refusals: [...ofAdmin, 'invalid_query', 'invalid_limit', 'invalid_cursor'],
}

export const renameThing: Operation = {
  id: 'renameThing',
  group: 'Operator',
  summary: 'Rename a thing',
  credential: 'admin',
  parameters: [thingIdParameter],
  body: { schema: renameThingBody, example: { name: 'boat 7' } },
  answers: { 200: done },
  refusals: [...ofAdmin, ...ofBody, 'unknown_thing'],
}

export const removeThing: Operation = {
  id: 'removeThing',
  group: 'Operator',
  summary: 'Remove a thing',
  description: 'The tokens and connections of the thing end at once. Its data is removed in the background.',
  credential: 'admin',
  parameters: [thingIdParameter],
  answers: { 200: done },
  refusals: [...ofAdmin, 'unknown_thing'],
}
