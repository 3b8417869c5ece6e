import type { ServerProcess } from '../helpers/server-process.ts'

/** The dynamic linker puts the directory of the machine's libraries in the place of `$LIB`. */
const library = '/usr/$LIB/faketime/libfaketimeMT.so.1'
/** Within which a clock is read over HTTP, seconds: the header has whole seconds. */
const precision = 3

/**
 * The environment of a process whose clock is ahead by so many seconds (negative: behind). Its timers and its monotonic
 * clock are the machine's.
 */
export function environmentOfClock(ahead: number): NodeJS.ProcessEnv {
  if (ahead === 0) return {}
  const offset = ahead < 0 ? String(ahead) : `+${ahead}`
  return { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
}

/** @throws Error if the clock of the server is not ahead by so many seconds */
export async function assertClock({ url }: ServerProcess, ahead: number): Promise<void> {
  const { headers } = await fetch(`${url}/healthz`)
  const shown = (Date.parse(headers.get('date') ?? '') - Date.now()) / 1_000
  if (Math.abs(shown - ahead) < precision) return
  throw new Error(`the clock of a node is ahead by ${shown} s, not ${ahead} s: apt install faketime`)
}
