import { Outbox } from '../../src/live/index.ts'

/** The command, from its sources, after what every live message goes through was broken. */

const defect = process.env.SOAK_DEFECT
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

await import('../../src/cli/main.ts')
