import { oldConnections, type RoundPlan } from './paused-round.ts'

/** Milliseconds. Behind 10 s another node leads, behind 25 s the paused one is held for dead. */
const pauses = [1, 2, 3, 1.5, 6, 12, 1, 4, 28, 2, 8, 3, 16, 1, 35, 5, 2, 22, 1, 40].map(
  seconds => seconds * 1_000,
)
/** Behind this the clients of every second round come when the node is held for dead. */
const late = 28_500

/** Of the nodes of each service, by how much they are ahead, seconds. */
export const clocks = [
  [0, 10],
  [5, -5],
  [-10, 0],
  [-2, 7],
] as const

/** @param number from 0, over all services */
export function planOf(number: number): RoundPlan {
  const turn = Math.floor(number / pauses.length)
  const pause = pauses[number % pauses.length] ?? 1_000
  const oldConnection = oldConnections[(number + turn) % oldConnections.length] ?? 'stays open'
  return { pause, oldConnection, moveAfter: pause > late && turn % 2 === 1 ? late : 0 }
}
