import { ThingwireError } from '../errors.ts'

/** That one alone acts in the name of something, such as a connection of a client or a task (contract §4.2). */
export interface Hold {
  /** Of what: `client/<client id>`, `task/<name>`. */
  readonly name: string
  /** Of this taking alone; begins with the name of the node that took it, and a colon. */
  readonly holder: string
}

/** A hold that was taken, and from whom. */
export interface TakenHold extends Hold {
  /** `holder` of the one that had it before; undefined: nobody. */
  readonly before: string | undefined
}

/** Who holds what. Of a store that is not shared they are in memory, and end with the process. */
export interface Holds {
  /**
   * Takes a hold from whoever has it. Calls of `append`, `put`, `take` and `release` take effect in the order of the calls: what is
   * called in the name of the holder before is refused from here on, and what it has done can be read when this resolves.
   *
   * @throws ThingwireError of the store
   */
  take(name: string): Promise<TakenHold>
  /**
   * Likewise, unless another one has it than this holder, or nobody.
   *
   * @returns undefined if another one has it
   * @throws ThingwireError of the store
   */
  takeFrom(name: string, holder: string | undefined): Promise<TakenHold | undefined>
  /**
   * Ends a hold that is still held, behind what was called before. To be called when all of that has settled, if whoever takes it
   * next is to find it in the store.
   *
   * @throws ThingwireError of the store
   */
  release(hold: Hold): Promise<void>
  /**
   * Calls `listener` when a hold that this node took was taken by another taking, on whichever node, or is gone; it must not
   * throw. Returns how to stop.
   */
  onLost(listener: (hold: Hold) => void): () => void
}

/** What was to be done in the name of a hold that is lost: nothing of it was done, and it is not to be tried again. */
export class HoldLost extends ThingwireError {
  constructor({ name }: Hold) {
    super('store_unavailable', `${name.split('/')[0]}: held by another by now`)
  }
}

/** What was not done in the name of a hold that is lost, whoever has it now has dealt with. @throws other errors */
export function unlessLost(error: unknown): void {
  if (!(error instanceof HoldLost)) throw error
}
