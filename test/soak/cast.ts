import type { Subscription } from '../helpers/mqtt-client.ts'
import { type Version, versionNames, versionOf } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import type { Habits, Ledger } from './plan.ts'
import type { JoiningSetup, LiveSetup, SessionSetup } from './subscribers.ts'

export interface CastSetup {
  /** Servers on one store: each has subscribers of every kind. */
  readonly nodes: readonly ServerProcess[]
  /** Characters that the texts of every tenth thing are longer: what fills the sockets of those who do not read. */
  readonly padding: number
  /** How many messages a session lets wait before it comes back, at most. */
  readonly awayFor: number
  /** How fast the slow readers read, bytes a second: one of everything, and one of some things. */
  readonly slowPace: { readonly all: number; readonly some: number }
}

const everyValue = 'things/+/values/#'
/** At one node every second one is of version 5. */
const kinds = [
  { transport: 'TCP', qos: 0 },
  { transport: 'TCP', qos: 1 },
  { transport: 'WebSocket', qos: 1 },
  { transport: 'WebSocket', qos: 0 },
] as const

/** What each thing writes, by its place. */
export function habitsOf(place: number, { padding }: Pick<CastSetup, 'padding'>): Habits {
  const last = place % 10
  return {
    hasMagic: last % 4 === 1,
    isLate: last === 4,
    isFleeting: last === 6,
    isSilent: last === 7,
    padding: last === 9 ? padding : 0,
  }
}

/** Who subscribes to what. */
export class Cast {
  readonly #setup: CastSetup
  readonly #ledger: Ledger
  readonly #all: readonly number[]
  /** Those without large values. */
  readonly #narrow: readonly number[]
  readonly #few: readonly number[]

  constructor(setup: CastSetup, ledger: Ledger) {
    this.#setup = setup
    this.#ledger = ledger
    this.#all = ledger.things.map(({ place }) => place)
    this.#narrow = this.#all.filter(place => habitsOf(place, setup).padding === 0)
    this.#few = this.#narrow.filter((_, index) => index % 3 === 0).slice(0, 12)
  }

  live(): LiveSetup[] {
    const [, second = 0] = this.#all
    return this.#atEach(node => [
      ...kinds.map(({ transport, qos }) =>
        this.#admin(node, `${transport} QoS ${qos}`, transport, { topic: everyValue, qos }),
      ),
      {
        ...this.#admin(node, 'overlapping filters', 'TCP', ...this.#ofFew('#', 0)),
        subscriptions: this.#overlapping(0),
        places: this.#few,
      },
      {
        ...this.#admin(node, 'one key of every thing', 'WebSocket', {
          topic: 'things/+/values/count',
          qos: 1,
        }),
        keys: ['count'],
      },
      {
        ...this.#admin(node, 'arrays of every thing', 'TCP', { topic: 'v2/things/+', qos: 1 }),
        messages: 'arrays',
      },
      this.#own(node, second, 'own values by token', 'values'),
      this.#own(node, second, 'own arrays by token', 'arrays'),
    ])
  }

  slow(): LiveSetup[] {
    const { all, some } = this.#setup.slowPace
    return this.#atEach(node => {
      const everything = this.#admin(node, `slow, everything, ${all} bytes/s, QoS 1`, 'TCP', {
        topic: everyValue,
        qos: 1,
      })
      const few = this.#admin(node, `slow, some, ${some} bytes/s, QoS 0`, 'TCP', ...this.#ofFew('#', 0))
      return [
        { ...everything, link: { ...everything.link, bytesPerSecond: all } },
        { ...few, places: this.#few, link: { ...few.link, bytesPerSecond: some } },
      ]
    })
  }

  stuck(round: number): LiveSetup[] {
    return this.#atEach(node =>
      kinds.map(({ transport, qos }) => ({
        ...this.#admin(node, `stuck ${round}, ${transport} QoS ${qos}`, transport, {
          topic: everyValue,
          qos,
        }),
        joinsLate: true,
      })),
    )
  }

  joining(): JoiningSetup[] {
    const places = this.#narrow.filter(place => !habitsOf(place, this.#setup).isLate)
    return this.#atEach(node => [
      { ...this.#admin(node, 'joining, TCP QoS 1', 'TCP'), places, qos: 1 },
      { ...this.#admin(node, 'joining, WebSocket QoS 0', 'WebSocket'), places, qos: 0 },
    ])
  }

  /** Each comes back at any node. */
  sessions(): SessionSetup[] {
    const places = this.#few
    const leaves = ['DISCONNECT', 'cut', 'takeover', 'cut without acks'] as const
    // Not every key: what it misses must stay below the bound of a session, at 2,000 records a second, too.
    const keys = ['count', 'late', '$settings', '$geo']
    const some = keys.map(key => ({ topic: `things/+/values/${key}`, qos: 1 as const }))
    const few = this.#ofFew('#', 1)
    return [
      {
        ...this.#atAny([4], node => this.#admin(node, 'session of some keys of all', 'TCP', ...some)),
        keys,
        leaves,
      },
      {
        ...this.#atAny([5], node => this.#admin(node, 'session of some, DISCONNECT', 'TCP', ...few)),
        ...{ places, leaves: ['DISCONNECT'] },
      },
      {
        ...this.#atAny([4, 5], node => this.#admin(node, 'session of some, cut', 'WebSocket', ...few)),
        ...{ places, leaves: ['cut', 'cut without acks'] },
      },
      {
        ...this.#atAny([5], node => this.#admin(node, 'session with overlapping filters', 'TCP', ...few)),
        ...{ places, leaves, subscriptions: this.#overlapping(1) },
      },
      {
        ...this.#atAny([4, 5], node => this.#own(node, places[0] ?? 0, 'session by token', 'values')),
        leaves,
      },
    ]
  }

  #ofFew(filter: string, qos: 0 | 1): Subscription[] {
    return this.#few.map(place => ({
      topic: `things/${this.#ledger.things[place]?.thing.thingId}/values/${filter}`,
      qos,
    }))
  }

  #overlapping(first: 0 | 1): Subscription[] {
    return [...this.#ofFew('#', first), ...this.#ofFew('+', 1), ...this.#ofFew('count', 1)]
  }

  /** Half of them speak version 5, at each node the other half. Client ids are of all nodes together. */
  #atEach<Client extends Pick<LiveSetup, 'name' | 'link'>>(clients: (node: ServerProcess) => Client[]) {
    const { nodes } = this.#setup
    return nodes.flatMap((node, place) =>
      clients(node).map((client, index) => {
        const version = versionOf(place + index)
        const at = nodes.length === 1 ? '' : `, node ${place + 1}`
        const name = `${client.name}${at}, ${versionNames[version]}`
        return { ...client, name, link: { ...client.link, version } }
      }),
    )
  }

  /** A client that may connect to any of the nodes, in any of these versions. */
  #atAny<Client extends Pick<LiveSetup, 'name' | 'link'>>(
    versions: readonly Version[],
    clientOf: (node: ServerProcess) => Client,
  ) {
    const clients = this.#setup.nodes.map(clientOf)
    const [first] = clients
    if (!first) throw new RangeError('there is no node')
    const name = `${first.name}, ${versions.map(version => versionNames[version]).join(' and ')}`
    const links = clients.flatMap(({ link }) => versions.map(version => ({ ...link, version })))
    return { ...first, name, links, awayFor: this.#setup.awayFor }
  }

  #admin(
    { mqttUrl, webSocketUrl, adminKey }: ServerProcess,
    name: string,
    transport: 'TCP' | 'WebSocket',
    ...subscriptions: readonly Subscription[]
  ) {
    const link = { url: transport === 'TCP' ? mqttUrl : webSocketUrl, password: adminKey }
    return { name, link, ledger: this.#ledger, places: this.#all, subscriptions }
  }

  #own(node: ServerProcess, place: number, name: string, messages: 'values' | 'arrays') {
    const token = this.#ledger.things[place]?.thing.thingToken ?? ''
    const topic = messages === 'values' ? `things/${token}/values/#` : `v2/things/${token}`
    return {
      ...{
        name,
        messages,
        ledger: this.#ledger,
        places: [place],
        subscriptions: [{ topic, qos: 1 as const }],
      },
      spelling: 'thingToken' as const,
      link: { url: node.webSocketUrl, password: token },
    }
  }
}
