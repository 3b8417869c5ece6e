import { setTimeout as delay } from 'node:timers/promises'
import { ask, createThing, type Thing, write } from '../../helpers/http-client.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { versionOf } from '../../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { openLink } from '../mqtt-link.ts'
import { between, chance, pick } from '../plan.ts'

export interface Population {
  readonly things: number
  readonly keys: number
  /** Client ids of persistent sessions. */
  readonly sessions: number
}

const recordsPerPage = 500
/** Keys that every second write is of, so that they soon have so many records, and that are read. */
const busyKeys = 2
/** Resources of a thing that is removed again. */
const resourcesOfGuest = 10
/** Milliseconds for which a client or a stream stays. */
const stay = { least: 500, most: 4_000 }
/** So much older is a record that comes late, at most, milliseconds. */
const lateness = 60_000

/** Clients of one server, of which each comes, does one thing and goes. */
export class Visitors {
  readonly #server: ServerProcess
  readonly #population: Population
  readonly #things: readonly Thing[]
  /** Connections that stay, by the place of their thing. */
  readonly #writers = new Map<number, Promise<MqttClient>>()
  /** Client ids that are connected. */
  readonly #present = new Set<number>()

  private constructor(server: ServerProcess, population: Population, things: readonly Thing[]) {
    this.#server = server
    this.#population = population
    this.#things = things
  }

  /** Makes the things. */
  static async come(server: ServerProcess, population: Population): Promise<Visitors> {
    const things: Thing[] = []
    for (let place = 0; place < population.things; place++) things.push(await createThing(server))
    return new Visitors(server, population, things)
  }

  async go(): Promise<void> {
    for (const writer of this.#writers.values()) await (await writer).disconnect()
  }

  /** A write over either door; some carry an id, and some come late. */
  async write(): Promise<void> {
    const place = between(0, this.#things.length - 1)
    const thing = this.#things[place] as Thing
    const key = chance(0.5) ? between(0, busyKeys - 1) : between(0, this.#population.keys - 1)
    const body = { values: [this.#value(key)], ...(chance(0.1) ? { id: `w${Math.random()}` } : {}) }
    if (chance(0.5)) {
      await this.#publish(place, thing, JSON.stringify(body))
    } else {
      await expectStatus(await write(this.#server, thing, body), 201)
    }
  }

  /** A connection of a persistent session, which hears what one thing writes under one key. Half of them are cut. */
  async connect(): Promise<void> {
    const { sessions } = this.#population
    const session = between(0, sessions - 1)
    if (this.#present.has(session)) return
    this.#present.add(session)
    try {
      const { thingId, thingToken: password } = this.#things[session % this.#things.length] as Thing
      const link = await openLink({
        url: this.#server.mqttUrl,
        clientId: `session ${session}`,
        password,
        version: versionOf(session),
        isPersistent: true,
      })
      const topic = `things/${thingId}/values/${nameOfKey(session % this.#population.keys)}`
      if (!link.connack.sessionPresent) await link.subscribeTo({ topic, qos: 1 })
      await this.#stay()
      await (chance(0.5) ? link.destroy() : link.disconnect())
    } finally {
      this.#present.delete(session)
    }
  }

  /** An event stream, left after a while. */
  async stream(): Promise<void> {
    const { thingToken } = pick(this.#things)
    const leaving = new AbortController()
    const response = await fetch(`${this.#server.url}/v2/things/${thingToken}`, {
      headers: { accept: 'text/event-stream' },
      signal: leaving.signal,
    })
    if (response.status !== 200) await expectStatus(response, 200)
    await this.#stay()
    leaving.abort()
  }

  /** A thing that is made, written to and removed. */
  async makeAndRemove(): Promise<void> {
    const thing = await createThing(this.#server)
    const values = Array.from({ length: resourcesOfGuest }, (_, index) => this.#value(index))
    await expectStatus(await write(this.#server, thing, { values }), 201)
    await ask(this.#server, 'DELETE', `/v2/admin/things/${thing.thingId}`)
  }

  /** A page. */
  async read(): Promise<void> {
    const { thingToken } = pick(this.#things)
    const key = nameOfKey(between(0, busyKeys - 1))
    const response = await fetch(
      `${this.#server.url}/v2/things/${thingToken}/resources/${key}?limit=${recordsPerPage}`,
    )
    // Nobody may have written it yet.
    if (response.status !== 404) await expectStatus(response, 200)
    else await response.arrayBuffer()
  }

  /** A write that is refused. */
  async refuse(): Promise<void> {
    const refused = await write(this.#server, pick(this.#things), { values: [{ key: 'no key', value: 1 }] })
    await expectStatus(refused, 400)
  }

  /** Over the connection of the thing, which is opened again if it was lost. */
  async #publish(place: number, { thingId, thingToken: password }: Thing, body: string): Promise<void> {
    const { mqttUrl: url } = this.#server
    const writer =
      this.#writers.get(place) ??
      openLink({ version: versionOf(place), url, clientId: `writer ${place}`, password })
    this.#writers.set(place, writer)
    try {
      await (await writer).publish(`things/${thingId}/write`, body)
    } catch (error) {
      if (this.#writers.get(place) === writer) this.#writers.delete(place)
      throw error
    }
  }

  #value(key: number): object {
    const isLate = chance(0.1)
    const late = { datetime: new Date(Date.now() - between(1, lateness)).toISOString() }
    return { key: nameOfKey(key), value: between(0, 1_000_000) / 1_000, ...(isLate ? late : {}) }
  }

  async #stay(): Promise<void> {
    await delay(between(stay.least, stay.most))
  }
}

function nameOfKey(key: number): string {
  return `key${key}`
}

/** Takes the answer to its end. @throws Error if it has another status */
async function expectStatus(response: Response, status: number): Promise<void> {
  const text = await response.text()
  if (response.status !== status) throw new Error(`${response.status} ${text.slice(0, 200)}`)
}
