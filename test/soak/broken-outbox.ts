import type { Defect } from './defect.ts'

/** Loaded before the server: breaks what every live message goes through. */

const defect = process.env.SOAK_DEFECT as Defect
// The server's own, of its build: another instance would break nothing.
const { Outbox } = (await import(process.env.SOAK_LIVE ?? '')) as typeof import('../../src/live/index.ts')
const every = 20
const push = Outbox.prototype.push
const pushed = new WeakMap<object, { count: number; held?: unknown }>()

Outbox.prototype.push = function (item) {
  const seen = pushed.get(this) ?? { count: 0 }
  pushed.set(this, seen)
  seen.count++
  const isHit = seen.count % every === 0
  if (isHit && defect === 'lost') return
  if (isHit && defect === 'out of order') {
    seen.held = item
    return
  }
  push.call(this, item)
  if (isHit && defect === 'doubled') push.call(this, item)
  if (seen.held === undefined) return
  push.call(this, seen.held)
  delete seen.held
}
