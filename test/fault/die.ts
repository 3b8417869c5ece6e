import { writeFileSync } from 'node:fs'
import { setImmediate } from 'node:timers'

/** Kills this process as `kill -9` does, once `proof` is written to the file that FAULT_PROOF names. */
export function die(proof: string): void {
  writeFileSync(process.env.FAULT_PROOF ?? '', proof)
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a while, in which more would be done than the proof says.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** Kills after some milliseconds, unless `task` is done before. */
export function dieWithin(milliseconds: number, task: Promise<unknown>, what: string): void {
  const started = performance.now()
  let isDone = false
  const done = () => {
    isDone = true
  }
  task.then(done, done)
  // Not a timer: those know whole milliseconds only, and a commit may take less than one.
  const look = () => {
    if (isDone) return
    const passed = performance.now() - started
    if (passed >= milliseconds) die(`${passed.toFixed(3)} ms after the beginning ${what}, before its end`)
    else setImmediate(look)
  }
  look()
}
