import { z } from 'zod'
import { json, type Operation } from './operation.ts'
import { limit, ref } from './parameters.ts'
import { ofActivationCode, ofBody, ofCredential, ofThing, ofThingToken } from './refusals.ts'
import { activation, datetime, refusedWrite, serverTime, thingId } from './shapes.ts'
import { thingPage, thingPageParameters } from './thing-page.ts'

export const activationBody = z.object(
  { activationCode: z.string('must be a string') },
  'the body must be a JSON object {"activationCode"}',
)

export const activateThing: Operation = {
  id: 'activateThing',
  group: 'Things',
  summary: 'Register a thing with an activation code',
  description:
    'Until the first use of the new token, the same code answers again for the same thing, with a fresh token. So a device ' +
    'can repeat the request after a lost answer.',
  credential: 'none',
  body: { schema: activationBody, example: { activationCode: 'Zm9vYmFyLXRoaXMtaXMtbm90LWEtY29kZQ' } },
  answers: {
    201: json('Registered.', activation, {
      status: 'created',
      message: 'thing activated',
      thingToken: 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4',
      thingId: 'mzxw6ytboi4dcmjs',
    }),
  },
  refusals: [...ofActivationCode, ...ofBody],
}

export const listVisibleThings: Operation = {
  id: 'listVisibleThings',
  group: 'Things',
  summary: 'List the things that the credential may read',
  credential: 'any',
  parameters: [
    ...thingPageParameters,
    {
      name: 'thingId',
      in: 'query',
      description: 'Only this thing.',
      schema: z.string(),
      example: 'mzxw6ytboi4dcmjs',
    },
  ],
  answers: { 200: thingPage },
  refusals: [...ofCredential, 'invalid_query', 'invalid_limit', 'invalid_cursor'],
}

export const listRefusedWrites: Operation = {
  id: 'listRefusedWrites',
  group: 'Things',
  summary: 'List the refused writes of a thing',
  description:
    'The last 100 refused writes over HTTP and MQTT, newest first. Read sessions may not read them.',
  credential: 'thing',
  parameters: [ref, limit('refused writes', 100, 100)],
  answers: {
    200: json('Refused writes.', z.array(refusedWrite), [
      {
        datetime: '2026-11-21T09:30:00.000Z',
        door: 'mqtt',
        reason: 'invalid_json',
        message: 'the body must be JSON',
        excerpt: '{"values":[{"key":"temperature","value":NaN}]}',
      },
    ]),
  },
  refusals: [...ofThing, 'invalid_limit'],
}

export const readServerTime: Operation = {
  id: 'readServerTime',
  group: 'Things',
  summary: 'Read the time of the server',
  credential: 'token',
  parameters: [
    {
      name: 'format',
      in: 'query',
      description: 'UTC, the default, or whole seconds since 1970.',
      schema: z.enum(['UTC', 'unix_timestamp']),
      example: 'unix_timestamp',
    },
  ],
  answers: { 200: json('The time.', serverTime, [{ key: 'date', value: '2026-11-21T09:30:00.000Z' }]) },
  refusals: [...ofThingToken, 'missing_thing_token', 'invalid_query'],
}

const principal = z.union([
  z.object({ kind: z.literal('thing'), thingId, name: z.string() }),
  z.object({
    kind: z.literal('session'),
    sessionId: z.string(),
    access: z.enum(['read', 'write']),
    things: z.union([z.literal('*'), z.array(thingId)]),
    isOperators: z.boolean(),
    expiresAt: datetime,
  }),
  z.object({ kind: z.literal('admin') }),
])

export const readPrincipal: Operation = {
  id: 'readPrincipal',
  group: 'Credentials',
  summary: 'Read the kind and rights of the credential',
  credential: 'any',
  answers: {
    200: json('A thing, a session, or the operator.', principal, {
      kind: 'thing',
      thingId: 'mzxw6ytboi4dcmjs',
      name: 'boat',
    }),
  },
  refusals: ofCredential,
}
