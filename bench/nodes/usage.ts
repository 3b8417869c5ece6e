import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import type { RunningNodes } from '../../test/helpers/cluster.ts'

/** What a cluster has used since it was started. */
export interface Usage {
  /** Microseconds of processor time, of all nodes together. */
  readonly nodes: number
  /** Microseconds of processor time. */
  readonly redis: number
  /** Times that Redis has read from a connection: a request, or several sent together. */
  readonly roundTrips: number
  /** Commands that Redis was sent by nodes, and those that scripts ran. */
  readonly commands: number
}

/** Linux only. */
export class UsageMeter {
  readonly #cluster: RunningNodes
  readonly #client: Redis

  constructor(cluster: RunningNodes) {
    this.#cluster = cluster
    this.#client = new Redis(cluster.redis.url)
  }

  async read(): Promise<Usage> {
    const { nodes, redis } = this.#cluster
    const stats = await this.#client.info('stats')
    const stat = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(stats)?.[1])
    return {
      nodes: nodes.reduce((sum, node) => sum + processorTime(node.process.pid), 0),
      redis: processorTime(redis.process.pid),
      roundTrips: stat('total_reads_processed'),
      commands: stat('total_commands_processed'),
    }
  }

  close(): void {
    this.#client.disconnect()
  }
}

/** Of several clusters together. */
export function sumOfUsage(all: readonly Usage[]): Usage {
  const sum = (of: (usage: Usage) => number) => all.reduce((total, usage) => total + of(usage), 0)
  return {
    nodes: sum(({ nodes }) => nodes),
    redis: sum(({ redis }) => redis),
    roundTrips: sum(({ roundTrips }) => roundTrips),
    commands: sum(({ commands }) => commands),
  }
}

/** What was used between two readings, a write. */
export function usagePerWrite(before: Usage, after: Usage, writes: number): Usage {
  return {
    nodes: (after.nodes - before.nodes) / writes,
    redis: (after.redis - before.redis) / writes,
    roundTrips: (after.roundTrips - before.roundTrips) / writes,
    commands: (after.commands - before.commands) / writes,
  }
}

/** User and system time of all threads, in hundredths of a second, are the 14th and 15th field (proc(5)). */
function processorTime(processId: number | undefined): number {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}
