import { RedisDatabase } from '../../../src/store/redis/connection/database.ts'

/** A database where something else happens behind each script: what another node does meanwhile. */
export class Interrupted extends RedisDatabase {
  meanwhile: (() => Promise<unknown>) | undefined

  override async run(...args: Parameters<RedisDatabase['run']>) {
    const reply = await super.run(...args)
    await this.meanwhile?.()
    return reply
  }
}
