import { expect, onTestFinished, test } from 'vitest'
import { type MigrateOptions, migrate } from '../../../src/store/migrate/migrate.ts'
import { openClient } from '../../../src/store/redis/connection/connection.ts'
import { startRedis } from '../../helpers/redis-server.ts'
import { interrupt, stageMigration } from './stage.ts'

test('migrate() has ended when replicas have all of it, and not before', async () => {
  const primary = await startRedis({ config: { 'repl-diskless-sync-delay': '0' } })
  onTestFinished(() => primary.end())
  const replica = await startRedis({ config: { replicaof: `127.0.0.1 ${primary.port}` } })
  onTestFinished(() => replica.end())
  const client = await openClient(primary.url)
  onTestFinished(() => client.disconnect())
  await expect.poll(() => client.wait(1, 1_000), { timeout: 30_000 }).toBe(1)

  const options: MigrateOptions = { ...(await stageMigration(primary.url)), replicas: 1 }
  await interrupt(options, 'verified')
  replica.process.kill('SIGSTOP')
  await expect(migrate(options)).rejects.toThrow('the replicas of Redis do not have all data yet')
  await expect(migrate(options)).rejects.toThrow('the replicas of Redis do not have all data yet')
  replica.process.kill('SIGCONT')
  expect(await migrate(options)).toBeUndefined()
})
