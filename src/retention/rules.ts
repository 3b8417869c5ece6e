import { milliseconds } from '../core/time/utc-buckets.ts'

export interface RetentionRule {
  /** A key, in which `*` stands for any characters, or none. */
  readonly pattern: string
  /** Milliseconds. */
  readonly age: number
}

const lengths: Readonly<Record<string, number>> = milliseconds
/** `30d`; `debug.*=1d`; `$geo=7d` for a magic key (contract §1, §2). */
const form = /^(?:(\$?[A-Za-z0-9._*-]{1,128})=)?([1-9]\d{0,6})([smhd])$/

/** Parses a rule such as `debug.*=1d` or `30d`. @returns undefined: the text is no rule */
export function parseRetentionRule(text: string): RetentionRule | undefined {
  const [, pattern = '*', count, unit = ''] = form.exec(text) ?? []
  const length = lengths[unit]
  return length === undefined ? undefined : { pattern, age: Number(count) * length }
}

/**
 * How long the records of a key are kept, milliseconds; undefined: for ever. The most specific rule counts, in any order of the
 * rules: the key itself before a pattern with `*`, then the pattern with most other characters. Of two equally specific ones the
 * longer age counts, so that a doubt loses no data.
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

/** Without a regular expression, which could be slow with many `*`. */
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
