import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { preload } from '../../test/helpers/preload.ts'
import type { TurnTimes } from './turns-preload.ts'

/** The turns of the event loop of a server that is started with `environment`. Linux only. */
export class WatchedTurns {
  readonly environment: NodeJS.ProcessEnv
  readonly #socketPath: string

  /** @param socketPath of a socket that the server makes */
  constructor(socketPath: string) {
    this.#socketPath = socketPath
    const file = new URL('turns-preload.ts', import.meta.url)
    this.environment = { ...preload(file), BENCH_TURNS: socketPath }
  }

  /** While they are watched, the process is never idle. @returns ends it, and gives all turns since the call */
  watch(): () => Promise<TurnTimes> {
    const socket = connect(this.#socketPath)
    return async () => {
      socket.end()
      return JSON.parse(await text(socket)) as TurnTimes
    }
  }
}
