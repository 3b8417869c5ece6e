/**
 * What a promise comes to, unless the signal is aborted before.
 *
 * @throws the reason of the signal
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
  })
  signal.addEventListener('abort', abort)
  return await Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
