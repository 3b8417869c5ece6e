import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { queryParameter } from '../operation/parameters.ts'
import { ofThingToken } from '../operation/refusals.ts'
import { serverTime } from '../operation/shapes.ts'

export const readServerTime: Operation = {
  id: 'readServerTime',
  group: 'Things',
  summary: 'Read the time of the server',
  credential: 'token',
  parameters: [
    queryParameter(
      'format',
      'UTC, the default, or whole seconds since 1970.',
      'unix_timestamp',
      z.enum(['UTC', 'unix_timestamp']),
    ),
  ],
  answers: { 200: json('The time.', serverTime, [{ key: 'date', value: '2026-11-21T09:30:00.000Z' }]) },
  refusals: [...ofThingToken, 'missing_thing_token', 'invalid_query'],
}
