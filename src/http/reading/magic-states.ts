import type { PageQuery, RecordStore } from '../../core/ports.ts'
import type { StoredRecord } from '../../core/record/record.ts'

/** Reads and removes the states of magic resources (contract §5). */
export interface MagicStates {
  /** Key of the state that is changed by records under `key`; undefined if `key` does not belong to a magic resource. */
  stateKeyOf(key: string): string | undefined
  /** Whether the newest record under this key is the state. */
  isLatestRecord(key: string): boolean
  /** Keys of the thing's states. */
  stateKeys(thingId: string): Promise<readonly string[]>
  /** The state, or its part named by `key` (null if there is no such part); undefined if there is no state. */
  read(thingId: string, key: string): Promise<StoredRecord | undefined>
  /**
   * Removes the state, or its part named by `key`. If the newest record is the state, the newest remaining record then becomes the
   * state. Resolves when the change is durable.
   */
  remove(thingId: string, key: string): Promise<void>
}

type Read = RecordStore['read']

interface Reads {
  /** The records under a key. */
  readonly history: Pick<RecordStore, 'read' | 'aggregate'>
  /** A page for `GET …/resources/<key>`. A request for only the newest record of a magic resource gets its state. */
  readonly page: Read
}

/** Reads of ordinary and magic resources. */
export function createReads(
  records: Pick<RecordStore, 'read' | 'aggregate' | 'resources'>,
  magic: MagicStates,
): Reads {
  const read: Read = async (thingId, key, query) =>
    (await records.read(thingId, key, query)) ?? ((await isKnown(thingId, key)) ? { records: [] } : undefined)
  return {
    history: {
      read,
      aggregate: async (thingId, key, query) =>
        (await records.aggregate(thingId, key, query)) ??
        ((await isKnown(thingId, key)) ? { buckets: [] } : undefined),
    },
    page: async (thingId, key, query) => {
      if (magic.stateKeyOf(key) === undefined || !asksForNewest(query)) return await read(thingId, key, query)
      const state = await magic.read(thingId, key)
      if (state) return { records: [state] }
      return (await read(thingId, key, query)) && { records: [] }
    },
  }

  /** Whether a key without records is known because of its state or because of related keys. */
  async function isKnown(thingId: string, key: string): Promise<boolean> {
    const stateKey = magic.stateKeyOf(key)
    return stateKey !== undefined && (await isWritten(thingId, stateKey))
  }

  /** `$settings.name` makes `$settings` known, and `$settings` makes `$settings.name` known. */
  async function isWritten(thingId: string, stateKey: string): Promise<boolean> {
    if (await magic.read(thingId, stateKey)) return true
    if (await records.read(thingId, stateKey, { order: 'desc', limit: 1 })) return true
    return (await records.resources(thingId)).some(key => magic.stateKeyOf(key) === stateKey)
  }
}

function asksForNewest({ limit, order, from, to, cursor }: PageQuery): boolean {
  return limit === 1 && order === 'desc' && from === undefined && to === undefined && cursor === undefined
}
