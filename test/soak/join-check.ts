import type { FindingKind } from './findings.ts'
import type { DueMessage } from './ledger.ts'

/** A message of one lane of a thing, as one SUBSCRIBE brought it. */
export interface JoinMessage {
  /** Its place in the lane. */
  readonly place: number
  readonly retain: boolean
}

export interface JoinFinding {
  readonly kind: FindingKind
  readonly what: string
}

/**
 * Judges what a new subscriber of one thing got: one retained message for each key, each as new as what was acked before
 * it subscribed or newer; live messages without a gap to the retained ones and among each other; no retained message
 * behind a newer live one, and no live one behind a retained one that is as new.
 *
 * @param due the lane; what is latest of each of its keys is what was written last
 * @param messages in the order in which they came
 * @param acked how many of the lane were acked before the SUBSCRIBE
 */
export function judgeJoin(
  due: readonly DueMessage[],
  messages: readonly JoinMessage[],
  acked: number,
): JoinFinding[] {
  const found: JoinFinding[] = []
  const note = (kind: FindingKind, what: string) => void found.push({ kind, what })
  const keyOf = (place: number) => due[place]?.key ?? ''
  const retained = new Map<string, number>()
  const live = new Map<string, number>()
  let lastLive: number | undefined
  for (const { place, retain } of messages) {
    const key = keyOf(place)
    if (retain) {
      if (retained.has(key)) note('retained', `${key} twice`)
      if (place < (live.get(key) ?? -1)) note('retained', `${key} ${place} behind live ${live.get(key)}`)
      retained.set(key, place)
    } else {
      const kept = retained.get(key) ?? -1
      if (place <= kept) note('doubled', `${key} ${place} live behind retained ${kept}`)
      if (lastLive !== undefined && place <= lastLive) note('out of order', `${place} behind ${lastLive}`)
      live.set(key, place)
      lastLive = place
    }
  }
  for (let place = 0; place < acked; place++) {
    const key = keyOf(place)
    if (!due[place]?.isKept || (retained.get(key) ?? -1) >= place) continue
    note(
      'retained',
      retained.has(key) ? `${key} ${retained.get(key)}, though ${place} was acked` : `${key} missing`,
    )
  }
  const lives = new Set(messages.filter(({ retain }) => !retain).map(({ place }) => place))
  const newestRetained = Math.max(-1, ...retained.values())
  const firstLive = Math.min(Infinity, ...lives)
  const from = Math.min(firstLive, newestRetained + 1)
  for (let place = from; place < (lastLive ?? 0); place++) {
    if (due[place]?.isKept && !lives.has(place))
      note('lost', `${place} between retained ${newestRetained} and live`)
  }
  return found
}
