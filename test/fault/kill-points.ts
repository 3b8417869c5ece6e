import { writeFileSync } from 'node:fs'
import { setImmediate } from 'node:timers'
import { type ChainedBatchWriteOptions, ClassicLevel, type OpenOptions } from 'classic-level'

/**
 * Loaded into the server before its own code (`node --import`): kills it, as `kill -9` does, at a named point, which it
 * first proves to have reached. It takes hold of the database's public methods, so that production code has no fail
 * points.
 *
 * FAULT_POINT: `after commit` (durable, not acked), `during commit`, `during reopen`, or `early ack`: the defect of
 * acknowledging what is not written yet, with which the harness is tested.
 * FAULT_AFTER: commits before it, or for `during reopen` milliseconds.
 * FAULT_PROOF: file that is written just before the kill.
 */
const { FAULT_POINT: point, FAULT_AFTER: after = '0', FAULT_PROOF: proof = '' } = process.env

/** In every value of the load, see load.ts. */
const writeName = /(r\d+-\d+-\d+)-/

let commits = 0
/** Of the last commit, milliseconds. */
let lastTook = 1

type Batch = ReturnType<ClassicLevel['batch']>

if (point === 'during reopen') {
  const open = ClassicLevel.prototype.open
  ClassicLevel.prototype.open = async function (this: ClassicLevel, options: OpenOptions = {}) {
    const opening = open.call(this, options)
    killWithin(Number(after), opening, 'of opening')
    await opening
    // The database is open, and nobody knows yet.
    die('opened, and not yet reported')
  }
} else if (point !== undefined) {
  const batch = ClassicLevel.prototype.batch as () => Batch
  ClassicLevel.prototype.batch = function (this: ClassicLevel) {
    return watched(batch.call(this))
  } as ClassicLevel['batch']
}

/** Makes a batch count the writes of the load that it holds, and die at the point. */
function watched(batch: Batch): Batch {
  const writes = new Set<string>()
  const put = batch.put.bind(batch)
  batch.put = (key: string, value: string, options = {}) => {
    const [, write] = writeName.exec(value.toString()) ?? []
    if (write !== undefined) writes.add(write)
    return put(key, value, options)
  }
  const write = batch.write.bind(batch)
  batch.write = (options: ChainedBatchWriteOptions = {}) => commit(() => write(options), writes.size)
  return batch
}

async function commit(write: () => Promise<void>, writes: number): Promise<void> {
  const isDue = ++commits > Number(after) && writes > 1
  if (point === 'early ack' && isDue) {
    setTimeout(() => die(`a group of ${writes} is acked and not written`), 20)
    return
  }
  const started = performance.now()
  const writing = write()
  if (point === 'during commit' && isDue) {
    killWithin(Math.random() * lastTook, writing, `of the commit of a group of ${writes}`)
  }
  await writing
  lastTook = performance.now() - started
  if (point === 'after commit' && isDue) die(`a group of ${writes} is written and not acked`)
}

/** Kills after some milliseconds, unless `task` is done before. */
function killWithin(milliseconds: number, task: Promise<unknown>, what: string): void {
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

function die(text: string): void {
  writeFileSync(proof, text)
  process.kill(process.pid, 'SIGKILL')
}
