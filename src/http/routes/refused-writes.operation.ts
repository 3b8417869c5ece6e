import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { limit, ref } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { refusedWrite, refusedWriteExample } from '../operation/shapes.ts'

export const listRefusedWrites: Operation = {
  id: 'listRefusedWrites',
  group: 'Things',
  summary: 'List the refused writes of a thing',
  description:
    'The last 100 refused writes over HTTP and MQTT, newest first. Read sessions may not read them.',
  credential: 'thing',
  parameters: [ref, limit('refused writes', 100, 100)],
  answers: { 200: json('Refused writes.', z.array(refusedWrite), [refusedWriteExample]) },
  refusals: [...ofThing, 'invalid_limit'],
}
