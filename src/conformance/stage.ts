import type { Store, StoreCapabilities, StoreDriver } from '../store/contract.ts'
import { openStore } from '../store/open-store.ts'

/** A place where a store keeps its data: a directory, a server's key prefix. New and empty for each test. */
export interface StorePlace {
  /** A driver on this place, not yet open; what is stored there is found by the next one (if `durable`). */
  driver(): StoreDriver
  /** Removes the place; every driver on it is closed by then. */
  cleanUp(): Promise<void>
  /**
   * Marks what is stored, while no driver is open, as written in a format newer than the store knows. Needed of a
   * store that is `durable`.
   */
  writeNewerFormat?(): Promise<void>
}

export type StoreFactory = () => Promise<StorePlace>

/** Registers a test with whatever runs them. */
export type RegisterTest = (name: string, body: () => Promise<void>) => void

/** What the tests of one area are registered with. */
export interface Suite {
  readonly capabilities: StoreCapabilities
  /** Registers a test on a place of its own. */
  test(name: string, body: (stage: Stage) => Promise<void>): void
}

/** Far beyond what a commit may take: the suite judges what a store keeps, not how fast. */
const storeTimeout = 60_000

/** The place of one test and the stores that are open on it. */
export class Stage {
  readonly place: StorePlace
  readonly #open: Pick<Store, 'close'>[] = []

  constructor(place: StorePlace) {
    this.place = place
  }

  /** Opens a store on the place; it is closed when the test ends, if the test has not closed it. */
  async open(): Promise<Store> {
    const store = await openStore(this.place.driver(), { storeTimeout })
    this.#open.push(store)
    return store
  }

  /** Opens a driver on the place without what `openStore` puts before it; it is closed when the test ends. */
  async openDriver(): Promise<StoreDriver> {
    const driver = this.place.driver()
    await driver.open()
    this.#open.push(driver)
    return driver
  }

  /** Closes what is open, and opens a store again. */
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
