import { describe, expect, it } from 'vitest'
import {
  type MqttSessionDocument,
  whateverIsCommitted,
} from '../../../src/mqtt/sessions/session-documents.ts'
import { movedDocument } from '../../../src/server/keeping/migrate.ts'

const numberOf = (writeNumber: number) => 1_000 + 16 * writeNumber

describe('movedDocument()', () => {
  it('translates every write number of a session, and nothing else', () => {
    const session: MqttSessionDocument = {
      node: 'one',
      lastConnected: 5,
      isInUse: true,
      maybeSent: 9,
      acked: { writeNumber: 1, place: 2 },
      sent: [{ messageId: 6, position: { writeNumber: 3, place: 4 }, isAcked: false }],
      subscriptions: [
        { filter: 'things/+/values/#', qos: 1, from: 7, owedRetained: 8 },
        { filter: 'things/a/errors', qos: 0, from: 0 },
      ],
    }
    expect(movedDocument('mqtt-sessions/client', session, numberOf)).toEqual({
      ...session,
      acked: { writeNumber: 1_016, place: 2 },
      maybeSent: 1_144,
      sent: [{ messageId: 6, position: { writeNumber: 1_048, place: 4 }, isAcked: false }],
      subscriptions: [
        { filter: 'things/+/values/#', qos: 1, from: 1_112, owedRetained: 1_128 },
        { filter: 'things/a/errors', qos: 0, from: 1_000 },
      ],
    })
  })

  it('leaves how far a session was sent where that is not known', () => {
    const session = { acked: { writeNumber: 1, place: 2 }, sent: [], subscriptions: [] }
    const moved = movedDocument(
      'mqtt-sessions/client',
      { ...session, maybeSent: whateverIsCommitted },
      numberOf,
    )
    expect(moved).toMatchObject({ maybeSent: whateverIsCommitted })
  })

  it.each(['magic/applied', 'magic/applied/abcdefghijklmnop'])('translates how far %s says', name => {
    const mark = { writeNumber: 2, records: 3 }
    expect(movedDocument(name, mark, numberOf)).toEqual({ writeNumber: 1_032, records: 3 })
  })

  it.each(['streams-runs', 'streams/abcdefghijklmnop'])('leaves %s behind', name => {
    expect(movedDocument(name, { since: 1 }, numberOf)).toBeUndefined()
  })

  it.each(['things/a', 'tokens/0', 'sessions/0', 'mqtt-wills/a/0', 'mqtt-in-flight/a/7'])(
    'keeps %s as it is',
    name => {
      const document = { thingId: 'a', createdAt: 1, writeNumber: 2 }
      expect(movedDocument(name, document, numberOf)).toEqual(document)
    },
  )
})
