/** Listeners for one kind of event. */
export class Listeners<Listener> extends Set<Listener> {
  /** @returns a function that removes the listener */
  readonly listen = (listener: Listener): (() => void) => {
    this.add(listener)
    return () => this.delete(listener)
  }
}
