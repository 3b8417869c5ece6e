import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { limit, ref } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { givenRecord } from '../operation/shapes.ts'

export const listResources: Operation = {
  id: 'listResources',
  group: 'Resources',
  summary: 'List the resources of a thing',
  credential: 'thing',
  parameters: [ref],
  answers: {
    200: json('Their keys.', z.object({ resources: z.array(z.string()) }), {
      resources: ['$geo', 'temperature'],
    }),
  },
  refusals: ofThing,
}

export const readAllResources: Operation = {
  id: 'readAllResources',
  group: 'Resources',
  summary: 'Read the newest records of every resource of a thing',
  credential: 'thing',
  parameters: [ref, limit('records of each resource', 1, 1000)],
  answers: {
    200: json(
      'All resources, each with its newest records, newest first.',
      z.array(z.object({ key: z.string(), values: z.array(givenRecord) })),
      [
        {
          key: 'temperature',
          values: [{ key: 'temperature', value: 21.5, datetime: '2026-11-21T09:30:00.000Z' }],
        },
      ],
    ),
  },
  refusals: [...ofThing, 'invalid_limit'],
}
