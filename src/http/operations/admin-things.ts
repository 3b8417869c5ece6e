import { z } from 'zod'
import { json, type Operation, type Parameter } from './operation.ts'
import { thingIdParameter } from './parameters.ts'
import { ofAdmin, ofBody } from './refusals.ts'
import { datetime, success, thingId, thingToken } from './shapes.ts'
import { thingPage, thingPageParameters } from './thing-page.ts'

const thingName = z.string('must be a string').max(200, 'must be at most 200 characters')
const object = 'the body must be a JSON object'
export const createThingBody = z.object({ name: thingName.optional() }, object)
export const renameThingBody = z.object({ name: thingName }, object)

const tokenExample = 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4'
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
      { status: 'created', thingId: 'mzxw6ytboi4dcmjs', thingToken: tokenExample },
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

const tokenId: Parameter = {
  name: 'tokenId',
  in: 'path',
  description: 'The public id of the token.',
  schema: z.string(),
  example: 'Zx1pQ9bA',
}

export const addToken: Operation = {
  id: 'addToken',
  group: 'Credentials',
  summary: 'Add a token to a thing',
  description:
    'A thing has at most ten tokens. To replace one, add a token, give it to the device, and end the old one.',
  credential: 'admin',
  parameters: [thingIdParameter],
  answers: {
    201: json('The token is shown only once.', z.object({ thingToken, tokenId: z.string() }), {
      thingToken: tokenExample,
      tokenId: tokenId.example,
    }),
  },
  refusals: [...ofAdmin, 'unknown_thing', 'too_many_tokens'],
}

export const listTokens: Operation = {
  id: 'listTokens',
  group: 'Credentials',
  summary: 'List the tokens of a thing',
  credential: 'admin',
  parameters: [thingIdParameter],
  answers: {
    200: json(
      'The ids of the tokens, without the secrets.',
      z.object({
        tokens: z.array(z.object({ tokenId: z.string(), createdAt: datetime, used: z.boolean() })),
      }),
      { tokens: [{ tokenId: tokenId.example, createdAt: '2026-11-20T08:00:00.000Z', used: true }] },
    ),
  },
  refusals: [...ofAdmin, 'unknown_thing'],
}

export const endToken: Operation = {
  id: 'endToken',
  group: 'Credentials',
  summary: 'End a token of a thing',
  description: 'Its connections close within a second, and the sessions that it minted end.',
  credential: 'admin',
  parameters: [thingIdParameter, tokenId],
  answers: { 200: done },
  refusals: [...ofAdmin, 'unknown_thing', 'not_found'],
}
