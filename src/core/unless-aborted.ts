/**
 * What a promise comes to, unless the signal is aborted before. It takes as many microtasks without a
 * signal: of those that wait with one and without, whoever comes first goes on first.
 *
 * @throws the reason of the signal
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason)
  })
  signal?.addEventListener('abort', abort)
  return await Promise.race([promise, aborted]).finally(() => signal?.removeEventListener('abort', abort))
}
