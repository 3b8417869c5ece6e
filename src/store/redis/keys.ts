/**
 * Names of the keys of a store. Redis Cluster hashes only the part in braces. So all keys are in one hash slot, and a script
 * can change them atomically. Scripts build the names in the same way; docs/reference/storage.md lists them.
 *
 * A thing id has no colon, and in a key name it precedes any part that may contain one, so that all names are unambiguous.
 */
export type Keys = ReturnType<typeof redisKeys>

export function redisKeys(prefix: string) {
  const base = `${prefix}:{0}:`
  return {
    /** Prefix of every name. */
    base,
    /** HASH with `format` and `partitions`; with `migration` until `thingwire migrate` has finished (scripts/claim.lua). */
    meta: `${base}meta`,
    /**
     * HASH with `number`: newest write number; `receipt`: newest receipt time; `trimmed`: highest write number ever trimmed from
     * the log; `logged`: number of entries ever appended to it, with large entries counted several times; `terms`: number of
     * leaders' terms so far. While the clock is far behind the newest receipt time: `behind-since` and `behind-seen`, the times of
     * the first and the latest check that found this. After such a clock was trusted: `stepped-from`, the newest receipt time
     * before the step, and `stepped-to`, the time of the clock. All times are in milliseconds.
     */
    head: `${base}head`,
    /** STREAM of commits and other notices between nodes, with the ids `<write number>-0` (log-entry.ts). */
    log: `${base}log`,
    /** LIST of the write numbers of every 1,000th entry of the log: the newest 100, newest first. */
    logMarks: `${base}log-marks`,
    /** Channel of the messages between nodes. Redis does not store them. */
    messages: `${base}messages`,
    /** LIST of the write numbers of log entries that are only for followers, oldest first. */
    logPassing: `${base}log-passing`,
    /** ZSET of nodes. Score: the time at which a node counts as dead unless it sends a heartbeat, milliseconds by Redis' clock. */
    nodes: `${base}nodes`,
    /** HASH name of a lock → its owner (core/locks.ts). The owner of a task's lock is `<node>:<term>` of the task's leader. */
    locks: `${base}h`,
    /** HASH task → time at which its leader's term ends unless renewed, milliseconds by Redis' clock. */
    leadEnds: `${base}lead-ends`,
    /** ZSET ordered by name: ids of the things that have any content. */
    things: `${base}a`,
    /** HASH document name → JSON. */
    documents: `${base}o`,
    /** ZSET ordered by name: the names of all documents. */
    documentNames: `${base}n`,
    /** ZSET ordered by name: keys under which the thing has records. */
    resources: (thingId: string) => `${base}k:${thingId}`,
    /** SET of the keys under which all records of the thing were removed. */
    emptied: (thingId: string) => `${base}x:${thingId}`,
    /** ZSET ordered by name: ids of the things that have this resource, or, for a magic resource, a state of it. */
    thingsWith: (key: string) => `${base}b:${key}`,
    /** ZSET of one resource. Score: datetime; member: see record-member.ts. */
    records: (thingId: string, key: string) => `${base}r:${thingId}:${key}`,
    /** ZSET of one resource. Score: datetime; member: 6 bytes of datetime and an identity (record-member.ts). */
    crowd: (thingId: string, key: string) => `${base}d:${thingId}:${key}`,
    /** HASH key → state (record-member.ts). */
    states: (thingId: string) => `${base}s:${thingId}`,
    /** HASH digest of a write id → `<ordinal>:<receipt time>:<answer>`; `#` → newest ordinal. */
    writeIds: (thingId: string) => `${base}i:${thingId}`,
    /** ZSET. Score: ordinal; member: digest of a write id. */
    writeIdOrder: (thingId: string) => `${base}j:${thingId}`,
    /** LIST of the last 100 refused writes as JSON, newest first. */
    refused: (thingId: string) => `${base}e:${thingId}`,
    /** STRING that expires: number and reply of the newest numbered write of a node. */
    group: (node: string) => `${base}g:${node}`,
  }
}
