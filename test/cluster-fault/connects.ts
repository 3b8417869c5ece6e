import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** Between two CONNECTs to one node, milliseconds. */
const interval = 500

/** The answer to a CONNECT; times on the clock of `performance.now()`, milliseconds. */
export interface Connack {
  /** Undefined: the connection was closed without one. */
  readonly returnCode: number | undefined
  readonly askedAt: number
  readonly answeredAt: number
}

/** New clients, one after another until this time on the clock of `performance.now()`, as if each were the first. */
export async function connectUntil(
  over: number,
  { mqttUrl: url }: ServerProcess,
  things: readonly Thing[],
): Promise<readonly Connack[]> {
  const connacks: Promise<Connack>[] = []
  while (performance.now() < over) {
    const askedAt = performance.now()
    const { thingToken = '' } = things[connacks.length % things.length] ?? {}
    const answer = connectMqtt({ url, username: 'new', password: thingToken }).then(
      async client => {
        const answeredAt = performance.now()
        await client.destroy()
        return { returnCode: client.connack.returnCode, askedAt, answeredAt }
      },
      () => ({ returnCode: undefined, askedAt, answeredAt: performance.now() }),
    )
    connacks.push(answer)
    await delay(interval)
  }
  return await Promise.all(connacks)
}

/** @returns what a client saw that no node with a store it cannot reach may show (contract §7: CONNACK 3), in words */
export function wrongConnacks(connacks: readonly Connack[], over: number): string[] {
  return connacks
    .filter(({ returnCode, answeredAt }) => returnCode !== 3 && answeredAt < over)
    .map(({ returnCode }) => `CONNACK ${returnCode ?? 'missing'} while Redis was away`)
}

/** The longest that any of them waited, milliseconds. */
export function slowestConnack(connacks: readonly Connack[]): number {
  return Math.max(0, ...connacks.map(({ askedAt, answeredAt }) => answeredAt - askedAt))
}
