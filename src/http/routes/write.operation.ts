import { z } from 'zod'
import { writeIdForm } from '../../core/parse.ts'
import { json, type Operation } from '../operation/operation.ts'
import { flag, ref } from '../operation/parameters.ts'
import { ofBody, ofThing } from '../operation/refusals.ts'
import { fieldError, write } from '../operation/shapes.ts'

/** Without a datetime: whoever tries it writes for now, not for the day on which this was written. */
const example = {
  values: [
    { key: 'temperature', value: 21.5, geo: { lat: 41.41, long: 2.22 } },
    { key: 'door', value: 'open' },
  ],
}

export const writeRecords: Operation = {
  id: 'writeRecords',
  group: 'Things',
  summary: 'Write records',
  description:
    'The answer is 201 when every record is durable. A write is stored as a whole or refused as a whole. A repeated write is ' +
    'stored once if its records have a `datetime` or the write has an id. The body is read as JSON with any Content-Type, and ' +
    'may be compressed with gzip.',
  credential: 'thing',
  parameters: [
    ref,
    flag('store', 'Whether to store the records. Default true.'),
    flag('broadcast', 'Whether to send live messages. Default true.'),
    flag('partial', 'Whether to store the good records if others are refused. Default false.'),
    {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'Write id. It wins over `id` in the body.',
      schema: z.string().regex(writeIdForm),
      example: 'reading-4711',
    },
  ],
  body: { schema: write, example },
  answers: {
    201: json(
      'Stored.',
      z.object({
        status: z.literal('created'),
        message: z.literal('created'),
        rejected: z.array(fieldError).optional(),
      }),
      { status: 'created', message: 'created' },
    ),
  },
  refusals: [
    ...ofThing,
    ...ofBody,
    'invalid_values',
    'too_many_records',
    'invalid_flag',
    'invalid_write_id',
    'forbidden_member',
    'invalid_record',
    'invalid_key',
    'unknown_magic_resource',
    'invalid_value',
    'number_out_of_range',
    'value_too_large',
    'value_too_deep',
    'invalid_geo',
    'invalid_datetime',
    'datetime_out_of_range',
    'invalid_position',
    'invalid_settings',
    'invalid_settings_path',
    'invalid_query',
    'write_rate_exceeded',
    'record_rate_exceeded',
    'too_many_waiting',
    'too_many_resources',
    'store_full',
  ],
}
