import { Partition } from '../../../src/store/redis/connection/partition.ts'

/** A partition where something else happens behind each script: what another node does meanwhile. */
export class Interrupted extends Partition {
  meanwhile: (() => Promise<unknown>) | undefined

  override async run(...args: Parameters<Partition['run']>) {
    const reply = await super.run(...args)
    await this.meanwhile?.()
    return reply
  }
}
