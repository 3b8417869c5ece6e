import type { Operation } from '../operation/operation.ts'

export const refuseBase: Operation = {
  id: 'refuseBase',
  group: 'Service',
  summary: 'Check that the service answers',
  description: 'Some clients use this path as a test. The answer is always 401.',
  credential: 'none',
  answers: {},
  refusals: ['invalid_session'],
}
