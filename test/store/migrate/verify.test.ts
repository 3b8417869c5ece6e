import { expect, test } from 'vitest'
import { otherThing, thing } from '../../../src/conformance/writes.ts'
import { migrate } from '../../../src/store/migrate/migrate.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { type Keys, redisKeys } from '../../../src/store/redis/keys.ts'
import { redisOfTests } from '../../helpers/redis-of-test.ts'
import { interrupt, stageMigration, targetOf } from './stage.ts'

const redis = redisOfTests()

/** What makes the sides differ, and what is named then. */
const changes: readonly {
  readonly what: string
  readonly named: string
  readonly change: (keys: Keys) => unknown
}[] = [
  {
    what: 'a record',
    named: `resource odd of thing ${thing}`,
    change: keys => redis.client.zremrangebyrank(keys.records(thing, 'odd'), 0, 0),
  },
  {
    what: 'the name of a resource',
    named: `resources of thing ${thing}`,
    change: keys => redis.client.zrem(keys.resources(thing), 'odd'),
  },
  {
    what: 'an emptied resource',
    named: `resource gone of thing ${thing}`,
    change: keys => redis.client.srem(keys.emptied(thing), 'gone'),
  },
  {
    what: 'a state',
    named: `state $geo of thing ${otherThing}`,
    change: keys => redis.client.hdel(keys.states(otherThing), '$geo'),
  },
  {
    what: 'a document',
    named: 'a document',
    change: keys => redis.client.hset(keys.documents, 'tokens/0123', '{}'),
  },
  {
    what: 'a document that was never there',
    named: 'the documents',
    change: keys => redis.client.zadd(keys.documentNames, 0, 'x'),
  },
  { what: 'a commit', named: 'the commit log', change: replaceCommit },
  {
    what: 'an answer',
    named: `a write id of thing ${thing}`,
    change: async keys => {
      const [digest = Buffer.alloc(0)] = await redis.client.zrangeBuffer(keys.writeIdOrder(thing), -1, -1)
      await redis.client.hset(keys.writeIds(thing), digest, '3:1:{}')
    },
  },
  {
    what: 'a refused write',
    named: `the refused writes of thing ${thing}`,
    change: keys => redis.client.lset(keys.refused(thing), 50, '{}'),
  },
]

/** The newest one, by one of another thing. */
async function replaceCommit({ log }: Keys): Promise<void> {
  const [[id, fields] = ['', []]] = await redis.client.xrevrange(log, '+', '-', 'COUNT', 1)
  await redis.client.xdel(log, id)
  await redis.client.xadd(log, `${id.split('-')[0]}-1`, ...fields.with(1, 'another'))
}

for (const { what, named, change } of changes) {
  test(`migrate() names ${what} that is not the same, and leaves the store closed`, async () => {
    const options = await stageMigration(redis.url)
    await interrupt(options, 'verified')
    await change(redisKeys(options.prefix ?? ''))
    await expect(migrate(options)).rejects.toThrow(named)
    await expect(openStore(targetOf(options))).rejects.toThrow('thingwire migrate has not finished')
  })
}
