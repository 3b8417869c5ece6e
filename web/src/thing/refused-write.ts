interface BadField {
  /** Place of the record in the write, from 0. */
  readonly index: number
  readonly field: string
  readonly reason: string
  readonly message: string
}

/** An item of `GET …/errors`, or a message on `things/<id>/errors` (contract §6, §7). */
export interface RefusedWrite {
  readonly datetime: string
  readonly door: string
  readonly reason: string
  readonly message: string
  readonly errors?: readonly BadField[]
  /** How often the write was sent since it was last listed, if more than once. */
  readonly count?: number
  /** The write id that the device chose. */
  readonly id?: string
  readonly excerpt: string
}

/** Writes that were refused for the same reasons. */
export interface RefusedGroup {
  readonly newest: RefusedWrite
  readonly count: number
  /** Datetime of the first listed write of the group, RFC 3339. */
  readonly since: string
  /** The different excerpts of the other writes, newest first. */
  readonly otherExcerpts: readonly string[]
}

/** Maximum number of listed writes, the same as on the server. */
const kept = 100
/** Maximum number of characters of a body in an excerpt from the server. */
const excerptLength = 200

/** Merges both lists, newest first, with each refused write once. */
export function merged(
  newer: readonly RefusedWrite[],
  older: readonly RefusedWrite[],
): readonly RefusedWrite[] {
  const all = new Map([...newer, ...older].map(refused => [identityOf(refused), refused]))
  return [...all.values()].sort((a, b) => Date.parse(b.datetime) - Date.parse(a.datetime)).slice(0, kept)
}

/** Groups writes with the same refusal: a device may send the same wrong form again and again. @param list newest first */
export function grouped(list: readonly RefusedWrite[]): readonly RefusedGroup[] {
  const groups = new Map<string, RefusedGroup>()
  for (const refused of list) {
    const known = groups.get(sameness(refused))
    const { newest = refused, count = 0, otherExcerpts = [] } = known ?? {}
    const { datetime, excerpt } = refused
    const isKnown = excerpt === newest.excerpt || otherExcerpts.includes(excerpt)
    groups.set(sameness(refused), {
      newest,
      count: count + (refused.count ?? 1),
      since: datetime,
      otherExcerpts: isKnown ? otherExcerpts : [...otherExcerpts, excerpt],
    })
  }
  return [...groups.values()]
}

/**
 * A text that is equal for writes that were refused for the same reasons. It does not depend on the places of records, on lengths
 * or times in messages, or on how many faults of a kind there are.
 */
export function sameness({ door, reason, message, errors = [] }: RefusedWrite): string {
  const faults = errors.map(kindOf)
  return JSON.stringify([
    door,
    reason,
    errors.length > 0 ? '' : withoutNumbers(message),
    ...new Set(faults.sort()),
  ])
}

/** The faults of one kind in a write. */
export interface FaultGroup {
  readonly first: BadField
  readonly count: number
}

/** Groups faults by kind: a device often makes the same fault in each record. */
export function groupedFaults(errors: readonly BadField[]): readonly FaultGroup[] {
  const groups = new Map<string, FaultGroup>()
  for (const fault of errors) {
    const { first, count } = groups.get(kindOf(fault)) ?? { first: fault, count: 0 }
    groups.set(kindOf(fault), { first, count: count + 1 })
  }
  return [...groups.values()]
}

function kindOf({ field, reason, message }: BadField): string {
  return [field, reason, withoutNumbers(message)].join(' ')
}

function withoutNumbers(message: string): string {
  return message.replaceAll(/\d+/g, '0')
}

/** The first place of a fault, the count and the message. If the message begins with the field, the place does not name it. */
export function faultText({ first: { index, field, message }, count }: FaultGroup): string {
  const often = count > 1 ? `${count} times, first in ` : ''
  const place = message.startsWith(field) ? `values[${index}]` : `values[${index}].${field}`
  return `${often}${place}: ${message}`
}

/** Whether an excerpt may contain only the beginning of a body. A redacted text may have been longer than `[redacted]`. */
export function isCut(excerpt: string): boolean {
  return excerpt.length >= excerptLength || excerpt.includes('[redacted]')
}

function identityOf({ datetime, door, reason, excerpt }: RefusedWrite): string {
  return `${datetime} ${door} ${reason} ${excerpt}`
}
