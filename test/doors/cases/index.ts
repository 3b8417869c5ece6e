import type { Case } from '../case.ts'
import { datetimes } from './datetimes.ts'
import { envelope } from './envelope.ts'
import { flags } from './flags.ts'
import { geo } from './geo.ts'
import { hostileBodies } from './hostile-bodies.ts'
import { keys } from './keys.ts'
import { magic } from './magic.ts'
import { order } from './order.ts'
import { partials } from './partial.ts'
import { resend } from './resend.ts'
import { values } from './values.ts'
import { writeIds } from './write-ids.ts'

/** The case table: the contract's tables of writes, §2 to §5, by group. */
export const cases: Readonly<Record<string, readonly Case[]>> = {
  envelope,
  keys,
  values,
  geo,
  datetimes,
  'magic resources': magic,
  'hostile bodies': hostileBodies,
  flags,
  'partial writes': partials,
  'write ids': writeIds,
  resend,
  order,
}
