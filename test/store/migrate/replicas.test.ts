import { expect, test } from 'vitest'
import { type MigrateOptions, migrate } from '../../../src/store/migrate/migrate.ts'
import { replicatedRedisOfTest } from '../../helpers/redis-of-test.ts'
import { interrupt, stageMigration } from './stage.ts'

test('migrate() has ended when replicas have all of it, and not before', async () => {
  const { primary, replica } = await replicatedRedisOfTest()
  const options: MigrateOptions = { ...(await stageMigration(primary.url)), replicas: 1 }
  await interrupt(options, 'verified')
  replica.process.kill('SIGSTOP')
  await expect(migrate(options)).rejects.toThrow('the replicas of Redis do not have all data yet')
  await expect(migrate(options)).rejects.toThrow('the replicas of Redis do not have all data yet')
  replica.process.kill('SIGCONT')
  expect(await migrate(options)).toBeUndefined()
})
