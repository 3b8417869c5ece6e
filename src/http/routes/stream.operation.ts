import { z } from 'zod'
import type { Operation } from '../operation/operation.ts'
import { queryParameter, ref } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { writtenRecords } from '../operation/shapes.ts'

const example = [{ key: 'temperature', value: 21.5 }]

export const streamWrites: Operation = {
  id: 'streamWrites',
  group: 'Live',
  summary: 'Stream the new writes of a thing',
  description:
    'The answer is chunked JSON: first `{"status":"success","message":"subscribed"}`, then one chunk with one JSON document for ' +
    'each write, and `{}` as a sign of life. With `Accept: text/event-stream` it is server-sent events: `event: values` has the ' +
    'records of one write, `event: reset` means that missed writes are no longer kept. A stream lasts until either side ends it.',
  credential: 'stream',
  parameters: [
    ref,
    queryParameter(
      'keepAlive',
      'Milliseconds between signs of life: 1,000 to 600,000, default 25,000.',
      10_000,
      z.int().min(1),
    ),
    {
      name: 'Last-Event-ID',
      in: 'header',
      description:
        'For server-sent events: the last `id` of the client. The server first sends the writes since then.',
      schema: z.string(),
      example: 'an-id-of-before',
    },
  ],
  answers: {
    200: {
      description: 'The stream.',
      content: {
        'application/json': {
          schema: z.union([
            z.object({ status: z.literal('success'), message: z.literal('subscribed') }),
            writtenRecords,
            z.object({}),
          ]),
          example,
        },
        'text/event-stream': {
          schema: z.string(),
          example:
            'event: values\nid: an-opaque-position\n' +
            'data: [{"key":"temperature","value":21.5,"datetime":"2026-11-21T09:30:00.000Z"}]\n\n',
        },
      },
    },
  },
  refusals: [...ofThing, 'invalid_query', 'too_many_streams', 'draining'],
}
