import { connectAccepted } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { StreamClient } from '../../test/http/stream-client.ts'

/** What is open with a credential, and when it was closed. */
export interface Opened {
  readonly kind: Kind
  /** Resolves with `Date.now()` at the moment at which its end is seen. */
  readonly closed: Promise<number>
  destroy(): void
}

export const kinds = ['TCP', 'WebSocket', 'TCP subscriber', 'WebSocket subscriber', 'SSE', 'chunked'] as const
export type Kind = (typeof kinds)[number]

/** Opens a connection of every kind with one credential, all of them in use when this resolves. */
export async function openAll(
  server: ServerProcess,
  thingId: string,
  credential: string,
): Promise<readonly Opened[]> {
  return await Promise.all(kinds.map(kind => open(server, kind, thingId, credential)))
}

async function open(server: ServerProcess, kind: Kind, thingId: string, credential: string): Promise<Opened> {
  if (kind === 'SSE' || kind === 'chunked') {
    const headers = kind === 'SSE' ? { accept: 'text/event-stream' } : {}
    const path = `/v2/things/${thingId}`
    const stream = await StreamClient.open(`${server.url}${path}`, {
      ...headers,
      authorization: `Bearer ${credential}`,
    })
    const head = await stream.head()
    if (!head.startsWith('HTTP/1.1 200')) throw new Error(`no stream: ${head}`)
    return { kind, closed: stream.closed.then(() => Date.now()), destroy: () => stream.socket.destroy() }
  }
  const isSubscriber = kind.endsWith('subscriber')
  const client = await connectAccepted({
    url: kind.startsWith('TCP') ? server.mqttUrl : server.webSocketUrl,
    username: 'bench',
    password: credential,
    clientId: kind,
    clean: !isSubscriber,
  })
  if (isSubscriber) await client.subscribeAll([`things/${thingId}/#`, `v2/things/${thingId}`])
  return { kind, closed: client.closed.then(() => Date.now()), destroy: () => client.stream.destroy() }
}

/** Latest, by kind, of how many milliseconds after a moment something was closed. */
export class Closings {
  readonly #delays = new Map<Kind, number[]>()

  /**
   * Waits until everything is closed.
   *
   * @param since as `Date.now()` has it
   * @throws Error if something is still open `deadline` milliseconds from now
   */
  async take(opened: readonly Opened[], since: number, deadline: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>(resolve => {
      timer = setTimeout(() => resolve(undefined), deadline)
    })
    await Promise.all(
      opened.map(async ({ kind, closed, destroy }) => {
        const at = await Promise.race([closed, late])
        destroy()
        // What was never closed counts as closed now: that is too late in any case.
        this.#delays.set(kind, [...(this.#delays.get(kind) ?? []), (at ?? Date.now()) - since])
      }),
    )
    clearTimeout(timer)
  }

  /** Milliseconds, in the order of size. */
  of(kind: Kind): readonly number[] {
    return [...(this.#delays.get(kind) ?? [])].sort((a, b) => a - b)
  }
}
