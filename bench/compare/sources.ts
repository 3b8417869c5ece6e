import { ask } from '../../test/helpers/http-client.ts'
import { startProduct } from '../peers/product.ts'
import { type Comparison, ratio, type Session } from './comparison.ts'
import { publishing, startProductSide, tokenOf } from './mqtt-contestants.ts'

/** Connections that publish, each for one device or thing. */
const connections = 10

const energy = {
  ...{ Total: 6.294, Yesterday: 5.34, Today: 0.954, Period: 217, Power: 2635 },
  ...{ Factor: 0.99, Voltage: 227, Current: 11.661, Frequency: 50.1, ApparentPower: 2661 },
}

/** What a device of a source publishes, by the name of the measure: its topic, ending with a place, and the same as a write. */
const messages = {
  '1 value': {
    topic: (place: number) => `zigbee2mqtt/plug${place}`,
    message: { power: 21.5, last_seen: null },
    values: [{ key: 'power', value: 21.5 }],
  },
  '10 values': {
    topic: (place: number) => `tele/plug${place}/SENSOR`,
    message: { Time: '2026-11-21T09:30:00', ENERGY: energy },
    values: Object.entries(energy).map(([name, value]) => ({ key: `ENERGY.${name}`, value })),
  },
}

const startSourceSide = async (session: Session) => {
  const peer = await startProduct(session)
  const created = ask<{ sourceToken: string }>(peer.server, 'POST', '/v2/admin/sources', { name: 'house' })
  const { sourceToken: username } = await created
  return { peer, login: { username }, watcher: { username }, filter: '#', filterOfAll: '#' }
}

/** What it costs to read messages as devices publish them, to store them, and to relay them, beside writes of the same records. */
export const sources: readonly Comparison[] = Object.entries(messages).map(
  ([name, { topic, message, values }]): Comparison => ({
    name: `source, ${name}`,
    unit: 'messages/s',
    isClose: true,
    sides: {
      source: publishing(startSourceSide, {
        topics: Array.from({ length: connections }, (_, place) => topic(place)),
        payload: JSON.stringify(message),
      }),
      writes: async session =>
        await publishing(startProductSide, {
          topics: Array.from(
            { length: connections },
            (_, place) => `things/${tokenOf(session, place)}/write`,
          ),
          payload: JSON.stringify({ values }),
        })(session),
    },
    bars: [ratio('source', 'writes', [0.5, 0.8])],
  }),
)
