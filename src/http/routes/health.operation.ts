import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'

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
