import type { Redactor } from '../../core/refusals/redactor.ts'

const longestName = 60

/** What a client calls something, for a message: JSON text of at most 60 characters, without what could be a credential. */
export function quotedName(name: string, redactor: Redactor): string {
  return JSON.stringify(redactor.redact(name, longestName))
}
