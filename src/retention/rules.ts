import { milliseconds } from '../core/time/utc-buckets.ts'

export interface RetentionRule {
  /** A key, in which each `*` stands for any number of characters, including none. */
  readonly pattern: string
  /** Maximum age of the records, milliseconds. */
  readonly age: number
}

const lengths: Readonly<Record<string, number>> = milliseconds
/** The form of a rule, for example `30d`, `debug.*=1d`, or `$geo=7d` for a magic key (contract §1, §2). */
const form = /^(?:(\$?[A-Za-z0-9._*-]{1,128})=)?([1-9]\d{0,6})([smhd])$/

/** Parses a rule, for example `debug.*=1d` or `30d`. @returns undefined if the text is not a rule */
export function parseRetentionRule(text: string): RetentionRule | undefined {
  const [, pattern = '*', count, unit = ''] = form.exec(text) ?? []
  const length = lengths[unit]
  return length === undefined ? undefined : { pattern, age: Number(count) * length }
}

/**
 * How long the records of a key are kept, milliseconds; undefined means for ever. The most specific rule counts, whatever the order
 * of the rules: the key itself, else the pattern with the most characters other than `*`. If two patterns are equally specific, the
 * longer age counts, so that no data are lost in case of doubt.
 */
export function ageOf(key: string, rules: readonly RetentionRule[]): number | undefined {
  const mostSpecificFirst = rules
    .filter(({ pattern }) => matches(pattern, key))
    .sort((a, b) => weightOf(b.pattern) - weightOf(a.pattern) || b.age - a.age)
  return mostSpecificFirst[0]?.age
}

function weightOf(pattern: string): number {
  return pattern.includes('*') ? pattern.replaceAll('*', '').length : Number.POSITIVE_INFINITY
}

/** Uses no regular expression, since an expression with many `*` could be slow. */
function matches(pattern: string, key: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  const end = parts.pop()
  if (end === undefined) return key === pattern
  if (!key.startsWith(start)) return false
  let at = start.length
  for (const part of parts) {
    const found = key.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return key.length - end.length >= at && key.endsWith(end)
}
