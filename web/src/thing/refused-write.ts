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
  /** How often it came since it was listed last, if more than once. */
  readonly count?: number
  /** The write id that the device chose. */
  readonly id?: string
  readonly excerpt: string
}

/** Writes that were refused for the same. */
export interface RefusedGroup {
  readonly newest: RefusedWrite
  readonly count: number
  /** When the first one that is listed was refused: RFC 3339. */
  readonly since: string
  /** What the others began with, where that is another text: newest first, each once. */
  readonly otherExcerpts: readonly string[]
}

/** As many as the server keeps. */
const kept = 100
/** Characters of a body that the server shows. */
const excerptLength = 200

/** Both lists as one, newest first, each refused write once. */
export function merged(
  newer: readonly RefusedWrite[],
  older: readonly RefusedWrite[],
): readonly RefusedWrite[] {
  const all = new Map([...newer, ...older].map(refused => [identityOf(refused), refused]))
  return [...all.values()].sort((a, b) => Date.parse(b.datetime) - Date.parse(a.datetime)).slice(0, kept)
}

/** A device that does not learn is refused for the same for ever, whatever it measures meanwhile. @param list newest first */
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
 * Equal for what was refused in the same way. Another place in the write, another length or another time in a message make no other
 * way, nor do more faults of the same kind.
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

/** Faults of one kind in a write. */
export interface FaultGroup {
  readonly first: BadField
  readonly count: number
}

/** A device that has one fault has it in each of its records. */
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

/** Where a fault is first, how often, and what is wrong. Most messages begin with the name of the field, which is then not named again. */
export function faultText({ first: { index, field, message }, count }: FaultGroup): string {
  const often = count > 1 ? `${count} times, first in ` : ''
  const place = message.startsWith(field) ? `values[${index}]` : `values[${index}].${field}`
  return `${often}${place}: ${message}`
}

/** Whether an excerpt may be the begin of a body only: what is redacted may have been longer than what stands for it. */
export function isCut(excerpt: string): boolean {
  return excerpt.length >= excerptLength || excerpt.includes('[redacted]')
}

function identityOf({ datetime, door, reason, excerpt }: RefusedWrite): string {
  return `${datetime} ${door} ${reason} ${excerpt}`
}
