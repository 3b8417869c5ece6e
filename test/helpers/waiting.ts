import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds; far beyond what is promised. */
const deadline = 30_000
const interval = 50

/** @throws Error if the promise does not settle in time */
export async function within<T>(promise: Promise<T>, what: string, time = deadline): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not in ${time} ms`)), time)
  })
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Resolves when it is so, looked at again and again. @returns whether it came about in time */
export async function eventually(isSo: () => boolean | Promise<boolean>, time = deadline): Promise<boolean> {
  const end = performance.now() + time
  while (!(await isSo())) {
    if (performance.now() > end) return false
    await delay(interval)
  }
  return true
}

/** Where there is no event for it. @throws Error if the server does not say in time that it is ready */
export async function untilReady({ url }: { readonly url: string }, time?: number): Promise<void> {
  const isReady = async () => {
    const response = await fetch(`${url}/readyz`)
    await response.arrayBuffer()
    return response.status === 200
  }
  if (!(await eventually(isReady, time))) throw new Error('the server is not ready again')
}
