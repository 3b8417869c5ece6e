import type { Store, StoreCapabilities, StoreDriver } from '../store/contract.ts'
import { openStore } from '../store/open-store.ts'

/** A place where a store keeps its data, such as a directory or a key prefix on a server. */
export interface StorePlace {
  /** Creates a driver that is not open yet. If the store is `durable`, each driver finds the data of the previous driver. */
  driver(): StoreDriver
  /** Removes the place. Called when all drivers of the place are closed. */
  cleanUp(): Promise<void>
  /** Marks the data as having a newer format than the store knows. Required if the store is `durable`. */
  writeNewerFormat?(): Promise<void>
}

export type StoreFactory = () => Promise<StorePlace>

export type RegisterTest = (name: string, body: () => Promise<void>) => void

export interface Suite {
  readonly capabilities: StoreCapabilities
  /** Registers a test with one open store in a new place. */
  test(name: string, body: (store: Store) => Promise<void>): void
  /** Registers a test that opens stores itself, in a new place. */
  testStage(name: string, body: (stage: Stage) => Promise<void>): void
}

/** Milliseconds, far more than a commit takes: the suite does not judge speed. */
const storeTimeout = 60_000

/** The place of one test, with its open stores. Stores that the test leaves open are closed at the end of the test. */
export class Stage {
  readonly place: StorePlace
  readonly #open: Pick<Store, 'close'>[] = []

  constructor(place: StorePlace) {
    this.place = place
  }

  async open(): Promise<Store> {
    const store = await openStore(this.place.driver(), { storeTimeout })
    this.#open.push(store)
    return store
  }

  /** Opens a driver directly, without `openStore`. */
  async openDriver(): Promise<StoreDriver> {
    const driver = this.place.driver()
    await driver.open()
    this.#open.push(driver)
    return driver
  }

  /** Closes all stores, and opens a new one. */
  async reopen(): Promise<Store> {
    await this.#closeAll()
    return await this.open()
  }

  async close(): Promise<void> {
    await this.#closeAll()
    await this.place.cleanUp()
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#open.splice(0).map(each => each.close()))
  }
}
