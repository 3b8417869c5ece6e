import type { RedisDatabase } from '../redis/connection/database.ts'
import { formatVersion } from '../redis/connection/format.ts'
import { pairsIn, Script } from '../redis/script.ts'
import type { Source } from './source.ts'
import type { Command } from './stages.ts'

const claimScript = new Script('claim')
const loadScript = new Script('load')

/** Write numbers in Redis are multiples of this (scripts/lib.lua). */
const step = 16

/** The store in Redis that a migration fills. No server can open it before `finish`. */
export class Target {
  readonly #database: RedisDatabase
  readonly #source: Source
  readonly #offset: number
  /** Key of the last moved entry; undefined if no entry was moved. */
  position: Buffer | undefined

  private constructor(database: RedisDatabase, source: Source, offset: number, position: Buffer | undefined) {
    this.#database = database
    this.#source = source
    this.#offset = offset
    this.position = position
  }

  /** @returns undefined if everything is already moved @throws ThingwireError; Error for the operator if Redis has another store */
  static async claim(database: RedisDatabase, source: Source): Promise<Target | undefined> {
    const { fingerprint, counters } = source
    const { writeNumber, newestReceipt } = counters
    const claimed = await database.run(claimScript, fingerprint, writeNumber, newestReceipt)
    const fields = new Map(pairsIn(claimed))
    const begun = fields.get('migration')?.toString()
    if (begun === fingerprint) {
      return new Target(database, source, Number(fields.get('offset')), fields.get('position'))
    }
    if (begun === undefined && fields.get('migrated')?.toString() === fingerprint) return undefined
    throw new Error(
      begun === undefined
        ? `Redis already contains a Thingwire store, and migrate needs an empty one. Stop its servers and remove the keys that begin with ${database.keys.base}, or use another database of Redis`
        : `Redis contains an unfinished migration of another data directory, or of this one before it last changed: remove the keys that begin with ${database.keys.base}, and migrate again`,
    )
  }

  /** Converts a write number of the source. */
  readonly numberOf = (writeNumber: number): number => this.#offset + step * writeNumber

  /**
   * Runs commands atomically. The caller need not wait for the previous call.
   *
   * @param key key of the last entry that these commands move
   * @throws ThingwireError store_full, store_unavailable
   */
  async load(key: Buffer, commands: readonly Command[]): Promise<void> {
    const before = this.position
    this.position = key
    await load(this.#database, before, key, commands)
  }

  /** Allows servers to open the store. @param durable the same database, over a connection that waits for replicas */
  async finish(durable: RedisDatabase): Promise<void> {
    const { meta } = durable.keys
    await load(durable, this.position, Buffer.alloc(0), [
      ['HSET', meta, 'format', formatVersion, 'partitions', 1, 'migrated', this.#source.fingerprint],
      ['HDEL', meta, 'migration', 'offset', 'position'],
    ])
  }

  /** Resolves when the result of an earlier `finish` is durable. @param durable as in `finish` */
  static async confirm(durable: RedisDatabase, { fingerprint }: Source): Promise<void> {
    // Writes the field again, since the connection waits for replicas only after a write.
    await durable.call('HSET', durable.keys.meta, 'migrated', fingerprint)
  }
}

async function load(
  database: RedisDatabase,
  before: Buffer | undefined,
  behind: Buffer,
  commands: readonly Command[],
): Promise<void> {
  const words = commands.flatMap(command => [command.length, ...command])
  await database.run(loadScript, before ?? '', behind, ...words)
}
