/**
 * Names of the keys of a store. Redis Cluster hashes the part in braces, so all keys are in one hash slot, where a script
 * can change them atomically. Scripts build the names in the same way; docs/reference/storage.md lists them.
 *
 * A thing id has no colon, and stands before parts that may have one.
 */
export type Keys = ReturnType<typeof redisKeys>

export function redisKeys(prefix: string) {
  const base = `${prefix}:{0}:`
  return {
    /** Prefix of every name. */
    base,
    /** HASH `format`, `partitions`; or `migration` while `thingwire migrate` has not finished (scripts/claim.lua). */
    meta: `${base}meta`,
    /**
     * HASH `number`: newest write number; `receipt`: newest receipt time; `trimmed`: newest write number that
     * was ever trimmed from the log; `logged`: number of entries ever appended, large ones counted several times; `terms`:
     * number of terms of leaders. While the clock is far behind, `behind-since` and `behind-seen`: times of its first and last
     * check. Once it was believed, `stepped-from` and `stepped-to`: the newest receipt time before, and the time of the
     * clock. All times in milliseconds.
     */
    head: `${base}head`,
    /** STREAM of commits and other notices between nodes, `<write number>-0` (log-entry.ts). */
    log: `${base}log`,
    /** LIST: newest write number at every 1,000th entry of the log, newest first, 100 of them. */
    logMarks: `${base}log-marks`,
    /** Channel of messages between nodes that are not kept. */
    messages: `${base}messages`,
    /** LIST: write numbers of the entries of the log that are for followers alone, oldest first. */
    logPassing: `${base}log-passing`,
    /** ZSET of nodes, score: time from which a node counts as dead unless it sends a heartbeat, milliseconds by Redis' clock. */
    nodes: `${base}nodes`,
    /** HASH name of a lock → its owner (core/locks.ts); of the task that a node leads, `<node>:<term>`. */
    locks: `${base}h`,
    /** HASH task → end of its leader's term unless it is renewed, milliseconds by Redis' clock. */
    leadEnds: `${base}lead-ends`,
    /** ZSET, by name: ids of the things that have any content. */
    things: `${base}a`,
    /** HASH document name → JSON. */
    documents: `${base}o`,
    /** ZSET, by name: the names of all documents. */
    documentNames: `${base}n`,
    /** ZSET, by name: keys of the thing that hold records. */
    resources: (thingId: string) => `${base}k:${thingId}`,
    /** SET: keys of the thing whose records were all removed. */
    emptied: (thingId: string) => `${base}x:${thingId}`,
    /** ZSET, by name: ids of the things that have the ordinary resource, or a state of the magic one. */
    thingsWith: (key: string) => `${base}b:${key}`,
    /** ZSET of one resource: score datetime, member as in record-member.ts. */
    records: (thingId: string, key: string) => `${base}r:${thingId}:${key}`,
    /** ZSET of one resource: score datetime, member 6 bytes of datetime and an identity (record-member.ts). */
    crowd: (thingId: string, key: string) => `${base}d:${thingId}:${key}`,
    /** HASH key → state, as in record-member.ts. */
    states: (thingId: string) => `${base}s:${thingId}`,
    /** HASH digest of a write id → `<ordinal>:<receipt time>:<answer>`; `#` → newest ordinal. */
    writeIds: (thingId: string) => `${base}i:${thingId}`,
    /** ZSET: score ordinal, member digest of a write id. */
    writeIdOrder: (thingId: string) => `${base}j:${thingId}`,
    /** LIST of JSON, newest first: the last 100 refused writes. */
    refused: (thingId: string) => `${base}e:${thingId}`,
    /** STRING that expires: number and reply of a node's newest numbered write. */
    group: (node: string) => `${base}g:${node}`,
  }
}
