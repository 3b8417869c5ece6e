import type { Aedes } from 'aedes'

/**
 * Lets a broker publish one message after the other. Aedes drops a message that a later one has overtaken, since it takes it for
 * a repetition; and with Redis one that has to be kept for a session is slower than one that has not. A hook `published` must not wait
 * for a message that it publishes itself.
 */
export function publishInTurn(broker: Aedes): void {
  const publish = broker.publish
  let last: Promise<void> = Promise.resolve()
  // Aedes itself also names the client, between the packet and what is to be called.
  broker.publish = (...given: unknown[]) => {
    const done = given.pop() as (...results: unknown[]) => void
    const begin = () =>
      new Promise<void>(resolve => {
        const next = (...results: unknown[]) => {
          resolve()
          done(...results)
        }
        Reflect.apply(publish, broker, [...given, next])
      })
    last = last.then(begin, begin)
  }
}
