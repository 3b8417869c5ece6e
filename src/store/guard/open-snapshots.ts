import type { Snapshot } from '../contract.ts'
import { LifeCycle } from './life-cycle.ts'

/** The snapshots that are open: a reader may keep one for as long as it likes, and `close` waits for none. */
export class OpenSnapshots {
  readonly #store: LifeCycle
  readonly #open = new Set<Snapshot>()

  /** @param store life of the store that they are of */
  constructor(store: LifeCycle) {
    this.#store = store
  }

  /** Stands guard before a driver's snapshot: closed once, and read only while it and the store are open. */
  guard(snapshot: Snapshot): Snapshot {
    const life = new LifeCycle()
    const guarded: Snapshot = {
      writeNumber: snapshot.writeNumber,
      latest: query => this.#store.stream(() => life.stream(() => snapshot.latest(query))),
      close: () =>
        this.#store.waitFor(
          life.close(async () => {
            this.#open.delete(guarded)
            await snapshot.close()
          }),
        ),
    }
    this.#open.add(guarded)
    return guarded
  }

  /** Closes all of them. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map(snapshot => snapshot.close()))
  }
}
