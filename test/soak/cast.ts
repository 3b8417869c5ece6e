import type { Subscription } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import type { JoiningSetup } from './joining-subscriber.ts'
import type { Ledger } from './ledger.ts'
import type { LiveSetup } from './live-subscriber.ts'
import type { Habits } from './planned-write.ts'
import type { SessionSetup } from './returning-session.ts'

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
    return this.#atEach(node => this.#liveAt(node))
  }

  slow(): LiveSetup[] {
    return this.#atEach(node => this.#slowAt(node))
  }

  stuck(round: number): LiveSetup[] {
    return this.#atEach(node => this.#stuckAt(node, round))
  }

  joining(): JoiningSetup[] {
    return this.#atEach(node => this.#joiningAt(node))
  }

  #liveAt(node: ServerProcess): LiveSetup[] {
    const [, second = 0] = this.#all
    const wild = ['TCP', 'WebSocket'].flatMap(transport =>
      ([0, 1] as const).map(qos => ({
        ...this.#admin(node, `${transport} QoS ${qos}`, transport),
        subscriptions: [{ topic: everyValue, qos }],
      })),
    )
    return [
      ...wild,
      {
        ...this.#admin(node, 'overlapping filters', 'TCP', this.#few),
        subscriptions: [...this.#ofFew('#', 0), ...this.#ofFew('+', 1), ...this.#ofFew('count', 1)],
      },
      {
        ...this.#admin(node, 'one key of every thing', 'WebSocket'),
        keys: ['count'],
        subscriptions: [{ topic: 'things/+/values/count', qos: 1 }],
      },
      {
        ...this.#admin(node, 'arrays of every thing', 'TCP'),
        messages: 'arrays',
        subscriptions: [{ topic: 'v2/things/+', qos: 1 }],
      },
      this.#own(node, second, 'own values by token', 'things/<ref>/values/#', 'values'),
      this.#own(node, second, 'own arrays by token', 'v2/things/<ref>', 'arrays'),
    ]
  }

  #slowAt(node: ServerProcess): LiveSetup[] {
    const { all, some } = this.#setup.slowPace
    const everything = this.#admin(node, `slow, everything, ${all} bytes/s, QoS 1`, 'TCP')
    const few = this.#admin(node, `slow, some things, ${some} bytes/s, QoS 0`, 'TCP', this.#few)
    return [
      {
        ...everything,
        link: { ...everything.link, bytesPerSecond: all },
        subscriptions: [{ topic: everyValue, qos: 1 }],
      },
      { ...few, link: { ...few.link, bytesPerSecond: some }, subscriptions: this.#ofFew('#', 0) },
    ]
  }

  #stuckAt(node: ServerProcess, round: number): LiveSetup[] {
    return ['TCP', 'WebSocket'].flatMap(transport =>
      ([0, 1] as const).map(qos => ({
        ...this.#admin(node, `stuck ${round}, ${transport} QoS ${qos}`, transport),
        joinsLate: true,
        subscriptions: [{ topic: everyValue, qos }],
      })),
    )
  }

  /** Each comes back at any node. */
  sessions(): SessionSetup[] {
    const { awayFor } = this.#setup
    const few = this.#few
    const leaves = ['DISCONNECT', 'cut', 'takeover', 'cut without acks'] as const
    // Not every key: what it misses must stay below the bound of a session, at 2,000 records a second, too.
    const keys = ['count', 'list', 'late', '$settings', '$geo']
    const all = {
      keys,
      subscriptions: keys.map(key => ({ topic: `things/+/values/${key}`, qos: 1 as const })),
    }
    return [
      {
        awayFor,
        ...this.#atAny(node => this.#admin(node, 'session of some keys of all', 'TCP')),
        ...all,
        leaves,
      },
      {
        awayFor,
        ...this.#atAny(node => this.#admin(node, 'session of some, DISCONNECT', 'TCP', few)),
        subscriptions: this.#ofFew('#', 1),
        leaves: ['DISCONNECT'],
      },
      {
        awayFor,
        ...this.#atAny(node => this.#admin(node, 'session of some, cut', 'WebSocket', few)),
        subscriptions: this.#ofFew('#', 1),
        leaves: ['cut', 'cut without acks'],
      },
      {
        awayFor,
        ...this.#atAny(node => this.#admin(node, 'session with overlapping filters', 'TCP', few)),
        subscriptions: [...this.#ofFew('#', 1), ...this.#ofFew('+', 1), ...this.#ofFew('count', 1)],
        leaves,
      },
      {
        awayFor,
        ...this.#atAny(node =>
          this.#own(node, few[0] ?? 0, 'session by token', 'things/<ref>/values/#', 'values'),
        ),
        leaves,
      },
    ]
  }

  #joiningAt(node: ServerProcess): JoiningSetup[] {
    const { mqttUrl, webSocketUrl, adminKey } = node
    const places = this.#narrow.filter(place => !habitsOf(place, this.#setup).isLate)
    const common = { ledger: this.#ledger, places }
    return [
      { ...common, name: 'joining, TCP QoS 1', qos: 1, link: { url: mqttUrl, password: adminKey } },
      {
        ...common,
        name: 'joining, WebSocket QoS 0',
        qos: 0,
        link: { url: webSocketUrl, password: adminKey },
      },
    ]
  }

  #ofFew(filter: string, qos: 0 | 1): Subscription[] {
    return this.#few.map(place => ({
      topic: `things/${this.#ledger.things[place]?.thing.thingId}/values/${filter}`,
      qos,
    }))
  }

  /** Client ids are of all nodes together. */
  #atEach<Client extends { readonly name: string }>(clients: (node: ServerProcess) => Client[]): Client[] {
    const { nodes } = this.#setup
    if (nodes.length === 1) return nodes.flatMap(clients)
    return nodes.flatMap((node, index) =>
      clients(node).map(client => ({ ...client, name: `${client.name}, node ${index + 1}` })),
    )
  }

  /** A client that may connect to any of the nodes. */
  #atAny<Client extends Pick<LiveSetup, 'link'>>(clientOf: (node: ServerProcess) => Client) {
    const clients = this.#setup.nodes.map(clientOf)
    const [first] = clients
    if (!first) throw new RangeError('there is no node')
    return { ...first, links: clients.map(({ link }) => link) }
  }

  #admin(node: ServerProcess, name: string, transport: string, places = this.#all) {
    const { mqttUrl, webSocketUrl, adminKey } = node
    const link = { url: transport === 'TCP' ? mqttUrl : webSocketUrl, password: adminKey }
    return { name, link, ledger: this.#ledger, places }
  }

  #own(node: ServerProcess, place: number, name: string, topic: string, messages: 'values' | 'arrays') {
    const token = this.#ledger.things[place]?.thing.thingToken ?? ''
    return {
      name,
      messages,
      spelling: 'thingToken' as const,
      link: { url: node.webSocketUrl, password: token },
      ledger: this.#ledger,
      places: [place],
      subscriptions: [{ topic: topic.replace('<ref>', token), qos: 1 as const }],
    }
  }
}
