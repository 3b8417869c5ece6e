/**
 * Names of the keys of a store: its things, everything of each of them, and the commit log of their writes. What stands in
 * braces is what Redis Cluster hashes, so all of it is in one hash slot, and a script sees and changes it as a whole. Scripts put names together in the same way; docs/reference/storage.md lists them.
 *
 * A thing id holds no colon and stands before what may hold one.
 */
export type Keys = ReturnType<typeof redisKeys>

export function redisKeys(prefix: string) {
  const base = `${prefix}:{0}:`
  return {
    /** What every name begins with. */
    base,
    /**
     * HASH `format`, `partitions`: what a store was made with; or `migration`, of one that `thingwire migrate` has not
     * finished (scripts/claim.lua).
     */
    meta: `${base}meta`,
    /**
     * HASH `number`: newest write number; `receipt`: newest receipt time, milliseconds; `trimmed`: newest write number that
     * was ever trimmed from the log; `logged`: how many entries it was given, large ones counted several times; `terms`: how
     * often a node began to lead a task. While the clock is far behind, `behind-since` and `behind-seen`: when it was first
     * and last looked at; once it was believed, `stepped-from` and `stepped-to`: the newest receipt time before and what the
     * clock showed, all in milliseconds.
     */
    head: `${base}head`,
    /** STREAM of commits, and of what else nodes send one another, `<write number>-0` (log-entry.ts). */
    log: `${base}log`,
    /** LIST: newest write number at every 1,000th entry of the log, newest first, 100 of them. */
    logMarks: `${base}log-marks`,
    /** Channel of messages between nodes that are not kept. */
    messages: `${base}messages`,
    /** LIST: write numbers of the entries of the log that are for followers alone, oldest first. */
    logPassing: `${base}log-passing`,
    /** ZSET of nodes, score: when each is held for dead unless it is heard of, milliseconds by Redis' clock. */
    nodes: `${base}nodes`,
    /** HASH name of a lock → its owner (core/locks.ts); of the task that a node leads, `<node>:<term>`. */
    locks: `${base}h`,
    /** HASH task → until when a node leads it unless it says so again, milliseconds by Redis' clock. */
    leadEnds: `${base}lead-ends`,
    /** ZSET, by name: ids of the things of which anything is kept. */
    things: `${base}a`,
    /** HASH document name → JSON. */
    documents: `${base}o`,
    /** ZSET, by name: the names of all documents. */
    documentNames: `${base}n`,
    /** ZSET, by name: keys of the thing that hold records. */
    resources: (thingId: string) => `${base}k:${thingId}`,
    /** SET: keys of the thing that held records and do not now. */
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
    /** STRING that expires: what came of the newest group of commits of a node. */
    group: (node: string) => `${base}g:${node}`,
  }
}
