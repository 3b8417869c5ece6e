import type { ServerProcess } from '../../helpers/server-process.ts'
import type { ClientDriver, DrivenSubscriber, DrivenSubscribing, Outgoing } from '../client-driver.ts'

/** Servers that relay `house/#`, and credentials of clients that may use all of it. */
export interface House {
  /** Where publishers connect. */
  readonly here: ServerProcess
  /** Where subscribers connect: another node, if there are two. */
  readonly there: ServerProcess
  /** Of a thing. */
  readonly token: string
  /** Of a session. */
  readonly password: string
}

type Options = Omit<DrivenSubscribing, 'filters' | 'qos' | 'username' | 'password' | 'leavesAfter'>

/** One duty with the clients of one kind. `base` begins every topic of it. */
export class Stage {
  readonly base: string
  readonly house: House
  readonly #client: ClientDriver
  #marks = 0

  constructor(client: ClientDriver, house: House, base: string) {
    this.#client = client
    this.house = house
    this.base = base
  }

  /** Resolves when all that is above QoS 0 is acknowledged. */
  publish(...messages: readonly Outgoing[]): Promise<void> {
    const { here, token } = this.house
    return this.#client.publish(here, token, messages)
  }

  /** A client id of this duty. */
  clientId(name: string): string {
    return `${this.base}-${name}`
  }

  /** Resolves at SUBACK. @param server default: there */
  subscribe(
    filters: readonly string[],
    qos: 0 | 1 | 2,
    options: Options = {},
    server = this.house.there,
  ): Promise<DrivenSubscriber> {
    const { password } = this.house
    return this.#client.subscribe(server, { filters, qos, username: 'x', password, ...options })
  }

  /** Publishes a mark, and resolves when they have it: what was acknowledged to a publisher before, they have, too. */
  async mark(topic: string, ...subscribers: readonly DrivenSubscriber[]): Promise<void> {
    const text = `mark ${this.#marks++}`
    // A client shows a message of QoS 2 when it is released, perhaps behind one of QoS 1 that came after it.
    await this.publish({ topic, payload: text, qos: 2 })
    await Promise.all(subscribers.map(({ inbox }) => inbox.until(({ payload }) => payload === text)))
  }
}

/** What a client has shown so far, as `topic payload qos`, with `retained` if it was; marks left out. */
export function shownBy({ inbox }: DrivenSubscriber): string[] {
  return inbox.messages
    .filter(({ payload }) => !payload.startsWith('mark '))
    .map(({ topic, payload, qos, retain }) => `${topic} ${payload} ${qos}${retain ? ' retained' : ''}`)
}
