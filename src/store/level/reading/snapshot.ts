import type { AbstractSnapshot } from 'abstract-level'
import { isMagicKey } from '../../../core/record/key.ts'
import type { LatestOfThing, LatestQuery, Snapshot } from '../../contract.ts'
import { latestPages } from '../../latest-pages.ts'
import { NewestRecords } from '../chunks/newest-records.ts'
import type { Database } from '../database/database.ts'
import { scan } from '../database/scan.ts'
import {
  type KeyRange,
  keysOf,
  namesInThingKey,
  ordinaryResourceKeys,
  prefix,
  resourceKey,
  secondName,
  stateKey,
} from '../keys.ts'
import { decodeState } from '../states.ts'

const readAtOnce = 64

export class LevelSnapshot implements Snapshot {
  readonly writeNumber: number
  readonly #database: Database
  readonly #snapshot: AbstractSnapshot
  /** Cursors that an earlier reader left for reuse: for a reader of only a few resources, opening new cursors is costly. */
  #idle: NewestRecords | undefined
  #isClosed = false

  /** Called between two commits. @param writeNumber number of the earlier commit */
  constructor(database: Database, writeNumber: number) {
    this.#database = database
    this.#snapshot = database.level.snapshot()
    this.writeNumber = writeNumber
  }

  latest(query: LatestQuery): AsyncIterable<readonly LatestOfThing[]> {
    return this.#database.useStream(() => latestPages(this.#find(query)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#idle?.close()
    await this.#snapshot.close()
  }

  #find({ thingId, key }: LatestQuery): AsyncIterable<readonly LatestOfThing[]> {
    if (thingId !== undefined && key !== undefined) return this.#findOne(thingId, key)
    if (key !== undefined) {
      if (isMagicKey(key)) return this.#findStates(key)
      const ofKey = keysOf(prefix.resourceByKey, key)
      return this.#readNewest(ofKey, name => ({ thingId: secondName(name), key }))
    }
    return thingId === undefined
      ? this.#findAll(keysOf(prefix.resource), keysOf(prefix.state))
      : this.#findAll(ordinaryResourceKeys(thingId), keysOf(prefix.state, thingId))
  }

  async *#findOne(thingId: string, key: string): AsyncIterable<readonly LatestOfThing[]> {
    if (isMagicKey(key)) {
      yield await this.#readStates([thingId], key)
      return
    }
    const number = await this.#database.level.get(resourceKey(thingId, key), { snapshot: this.#snapshot })
    if (!number) return
    const newest = this.#takeNewest()
    try {
      const [record] = await newest.read([{ key, number: number.readUInt32BE(0) }])
      if (record) yield [{ thingId, key, record }]
    } finally {
      await this.#leaveNewest(newest)
    }
  }

  async *#findStates(key: string): AsyncIterable<readonly LatestOfThing[]> {
    for await (const entries of this.#scan(keysOf(prefix.resourceByKey, key))) {
      const things = entries.map(([name]) => secondName(name))
      yield await this.#readStates(things, key)
    }
  }

  async *#findAll(resources: KeyRange, states: KeyRange): AsyncIterable<readonly LatestOfThing[]> {
    yield* this.#readNewest(resources, namesInThingKey)
    for await (const entries of this.#scan(states)) {
      yield entries.map(([name, bytes]) => {
        const { thingId, key } = namesInThingKey(name)
        return { thingId, key, record: decodeState(key, bytes) }
      })
    }
  }

  async #readStates(things: readonly string[], key: string): Promise<LatestOfThing[]> {
    const names = things.map(thingId => stateKey(thingId, key))
    const states = await this.#database.level.getMany(names, { snapshot: this.#snapshot })
    return things.flatMap((thingId, index) => {
      const bytes = states[index]
      return bytes ? [{ thingId, key, record: decodeState(key, bytes) }] : []
    })
  }

  /** @param range range of entries whose values are resource numbers @param namesIn decodes a key of the range */
  async *#readNewest(
    range: KeyRange,
    namesIn: (name: Buffer) => { thingId: string; key: string },
  ): AsyncIterable<readonly LatestOfThing[]> {
    const newest = this.#takeNewest()
    try {
      for await (const entries of this.#scan(range)) {
        const resources = entries
          .map(([name, number]) => ({ ...namesIn(name), number: number.readUInt32BE(0) }))
          .filter(({ key }) => !isMagicKey(key))
        const found = await newest.read(resources)
        yield resources.flatMap(({ thingId, key }, index) => {
          const record = found[index]
          return record ? [{ thingId, key, record }] : []
        })
      }
    } finally {
      await this.#leaveNewest(newest)
    }
  }

  #takeNewest(): NewestRecords {
    const newest = this.#idle ?? new NewestRecords(this.#database, this.#snapshot)
    this.#idle = undefined
    return newest
  }

  async #leaveNewest(newest: NewestRecords): Promise<void> {
    if (this.#idle || this.#isClosed) await newest.close()
    else this.#idle = newest
  }

  #scan(range: KeyRange) {
    return scan(this.#database, range, { atOnce: readAtOnce, snapshot: this.#snapshot })
  }
}
