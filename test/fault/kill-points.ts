import { readFileSync } from 'node:fs'
import { defects, doorPoints } from './door-points.ts'
import { magicDefects, magicPoints } from './magic-points.ts'
import { sessionDefects, sessionPoints } from './session-points.ts'

/**
 * Loaded into the server before its own code (`node --import`): kills it, as `kill -9` does, at a named point, which it
 * first proves to have reached. It takes hold of public methods of the database and of sockets, so that production code
 * has no fail points.
 *
 * FAULT_POINT: one of the points, or of the defects, with which the harness is tested.
 * FAULT_AFTER: commits, acks or wills before it, or for `during reopen` milliseconds.
 * FAULT_PROOF: file that is written just before the kill.
 * FAULT_ORDER: file with point and after as JSON, read when SIGUSR2 arrives.
 */
const { FAULT_POINT, FAULT_AFTER, FAULT_ORDER } = process.env

const all: Record<string, (after: number) => void> = {
  ...doorPoints,
  ...defects,
  ...magicPoints,
  ...magicDefects,
  ...sessionPoints,
  ...sessionDefects,
}

if (FAULT_POINT !== undefined) all[FAULT_POINT]?.(Number(FAULT_AFTER))
if (FAULT_ORDER !== undefined) {
  process.on('SIGUSR2', () => {
    const { point, after } = JSON.parse(readFileSync(FAULT_ORDER, 'utf8')) as { point: string; after: number }
    all[point]?.(after)
  })
}
