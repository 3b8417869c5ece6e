import type { MagicHistory, MagicRecord } from '../core/ports.ts'
import type { Problem } from '../core/problem.ts'

/** One magic resource (contract §5). A file of its own declares it; `registry.ts` lists it. */
export interface MagicResource {
  /** Whether the resource answers to this key. */
  readonly matches: (key: string) => boolean
  /** Checks a record under such a key: what to keep of it as history, or what is wrong. */
  readonly check: (record: MagicRecord) => MagicHistory | Problem
}
