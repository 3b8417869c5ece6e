import { z } from 'zod'
import { json, type Operation } from './operation.ts'
import { ofAdmin } from './refusals.ts'

export const refuseBase: Operation = {
  id: 'refuseBase',
  group: 'Service',
  summary: 'What some clients ask to see whether the service is there',
  description: 'Always refused.',
  credential: 'none',
  answers: {},
  refusals: ['invalid_session'],
}

export const backUp: Operation = {
  id: 'backUp',
  group: 'Operator',
  summary: 'Take a consistent copy of the store',
  description:
    'While it runs. `thingwire restore` reads it. A store in Redis is backed up with the means of Redis.',
  credential: 'admin',
  answers: {
    200: {
      description: 'The copy, streamed.',
      content: { 'application/octet-stream': { schema: z.string(), example: 'bytes' } },
      headers: { 'Content-Disposition': 'A name for the file.' },
    },
  },
  refusals: [...ofAdmin, 'not_found'],
}

export const checkHealth: Operation = {
  id: 'checkHealth',
  group: 'Service',
  summary: 'Ask whether the process is up',
  credential: 'none',
  answers: { 200: json('It is.', z.object({ status: z.literal('ok') }), { status: 'ok' }) },
  refusals: [],
}

export const checkReadiness: Operation = {
  id: 'checkReadiness',
  group: 'Service',
  summary: 'Ask whether writes can be taken',
  credential: 'none',
  answers: {
    200: json(
      'They can; `clock_behind`: the clock is behind the newest receipt time.',
      z.object({ status: z.literal('ready'), clock_behind: z.literal(true).optional() }),
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
    'For Prometheus. A program on the machine itself that asks without a proxy needs no admin key.',
  credential: 'admin',
  answers: {
    200: {
      description: 'Text of Prometheus.',
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
