import { z } from 'zod'
import { json, type Parameter } from './operation.ts'
import { cursor, limit, queryParameter } from './parameters.ts'
import { datetime, geo, thingId } from './shapes.ts'
import { topicGrants } from './topics.ts'

export const thingPageParameters: readonly Parameter[] = [
  limit('things', 100, 1000),
  cursor('`next` of the page before', 'mzxw6ytboi4dcmjs'),
  queryParameter('name', 'Only things with this text in their name, in any case.', 'boat'),
  queryParameter(
    'bbox',
    'Only things with a position in this box: west,south,east,north in degrees.',
    '22.5,59.5,25,60.5',
  ),
  queryParameter('source', 'Only things that stand for devices of this source.', 'mzxw6ytboi4dcmjs'),
]

/** The device that a thing stands for. */
const deviceOfSource = z.object({ sourceId: thingId, device: z.string(), isGone: z.literal(true).optional() })

export const thingPageAnswer = json(
  'A page of things in the order of their ids. `lastSeen`: when the thing last used its own token, null if never. `lastWrite`: ' +
    'when a write of it was last stored, with whichever credential. `topics`: which topics besides those of things it may use. ' +
    '`source`: which device of a source it stands for; `isGone` if the device has said that it is gone.',
  z.object({
    things: z.array(
      z.object({
        thingId,
        name: z.string(),
        createdAt: datetime,
        lastSeen: datetime.nullable(),
        lastWrite: datetime.optional(),
        position: geo.optional(),
        topics: topicGrants.optional(),
        source: deviceOfSource.optional(),
      }),
    ),
    next: z.string().optional(),
  }),
  {
    things: [
      {
        thingId: 'mzxw6ytboi4dcmjs',
        name: 'boat',
        createdAt: '2026-11-20T08:00:00.000Z',
        lastSeen: '2026-11-21T09:30:00.000Z',
        lastWrite: '2026-11-21T09:30:00.000Z',
        position: { lat: 59.9, long: 23.4 },
      },
    ],
  },
)
