import { z } from 'zod'
import type { Operation } from '../../http/operation/operation.ts'
import { ofAdmin } from '../../http/operation/refusals.ts'

export const readMetrics: Operation = {
  id: 'readMetrics',
  group: 'Service',
  summary: 'Read the metrics',
  description:
    'For Prometheus. A program on the same machine needs no admin key if it asks for `localhost` or a loopback address (`Host`), and through no proxy. With the option `publicMetrics` nobody needs it.',
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
