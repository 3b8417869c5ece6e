import { z } from 'zod'
import { json, type Operation } from './operation.ts'
import { ofAdmin } from './refusals.ts'

export const refuseBase: Operation = {
  id: 'refuseBase',
  group: 'Service',
  summary: 'Check that the service answers',
  description: 'Some clients use this path as a test. The answer is always 401.',
  credential: 'none',
  answers: {},
  refusals: ['invalid_session'],
}

export const backUp: Operation = {
  id: 'backUp',
  group: 'Operator',
  summary: 'Take a consistent copy of the store',
  description:
    'The server goes on. `thingwire restore` reads the copy. Back up a store in Redis with the tools of Redis.',
  credential: 'admin',
  answers: {
    200: {
      description: 'The copy, streamed.',
      content: { 'application/octet-stream': { schema: z.string(), example: 'bytes' } },
      headers: { 'Content-Disposition': 'Name for the file.' },
    },
  },
  refusals: [...ofAdmin, 'not_found'],
}

export const checkHealth: Operation = {
  id: 'checkHealth',
  group: 'Service',
  summary: 'Ask whether the process is up',
  credential: 'none',
  answers: { 200: json('The process is up.', z.object({ status: z.literal('ok') }), { status: 'ok' }) },
  refusals: [],
}

export const checkReadiness: Operation = {
  id: 'checkReadiness',
  group: 'Service',
  summary: 'Ask whether the server takes writes',
  credential: 'none',
  answers: {
    200: json(
      'The server takes writes. `clock_behind` means that its clock is 60 s or more behind the newest receipt time, `clock_stepped_back` that receipt times have gone back since the start, since a clock that was far behind them was believed.',
      z.object({
        status: z.literal('ready'),
        clock_behind: z.literal(true).optional(),
        clock_stepped_back: z.literal(true).optional(),
      }),
      { status: 'ready' },
    ),
  },
  refusals: ['draining', 'store_unavailable'],
}

export const readMetrics: Operation = {
  id: 'readMetrics',
  group: 'Service',
  summary: 'Read the metrics',
  description:
    'For Prometheus. A program on the same machine needs no admin key, unless it asks through a proxy. With the option `publicMetrics` nobody needs it.',
  credential: 'admin',
  answers: {
    200: {
      description: 'Prometheus text format.',
      content: {
        'text/plain': {
          schema: z.string(),
          example: 'thingwire_limits_met_total{limit="write_rate_exceeded"} 0\n',
        },
      },
    },
  },
  refusals: ofAdmin,
}
