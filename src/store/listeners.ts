/** Listeners to one kind of event. */
export class Listeners<Listener> extends Set<Listener> {
  /** Adds one. Returns how to stop. */
  readonly listen = (listener: Listener): (() => void) => {
    this.add(listener)
    return () => this.delete(listener)
  }
}
