import { preload } from '../helpers/preload.ts'

/**
 * Where a process is killed under load. `torn write`: between two of the writes to the log that one group takes.
 * `QoS 2 before PUBREL`: PUBREC was sent, and PUBREL has arrived and is not read.
 */
export const killPoints = [
  'random moment',
  'after commit',
  'during commit',
  'torn write',
  'during reopen',
  'QoS 1 before PUBACK',
  'QoS 2 before commit',
  'QoS 2 before PUBREC',
  'QoS 2 before PUBREL',
  'QoS 2 before PUBCOMP',
] as const

/** What a broken server does, see door-points.ts; it is killed, too. */
export const defects = ['early ack', 'forgotten packet ids'] as const

export type KillPoint = (typeof killPoints)[number] | (typeof defects)[number]

/** The points that the server itself is made to reach, under load. */
export function isWithinServer(point: KillPoint): boolean {
  return point !== 'random moment' && point !== 'torn write' && point !== 'during reopen'
}

/**
 * The environment of a server that kills itself at the point.
 *
 * @param after commits, acks or wills before it, or for `during reopen` milliseconds
 * @param proof file that is written just before
 */
export function killedAt(point: string, after: number, proof: string): NodeJS.ProcessEnv {
  return { ...watched(proof), FAULT_POINT: point, FAULT_AFTER: String(after) }
}

/** The environment of a server that kills itself at a point that it is told by SIGUSR2. */
export function killedOnOrder(order: string, proof: string): NodeJS.ProcessEnv {
  return { ...watched(proof), FAULT_ORDER: order }
}

function watched(proof: string): NodeJS.ProcessEnv {
  return { ...preload(new URL('kill-points.ts', import.meta.url)), FAULT_PROOF: proof }
}
