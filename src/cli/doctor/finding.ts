/** What one check of `thingwire doctor` has found. */
export interface Finding {
  /** What was looked at, in a word or two: `HTTP`, `last seen`. */
  readonly check: string
  readonly isOk: boolean
  /** Worth knowing, and no fault. */
  readonly isNote?: true
  readonly text: string
  /** What to do about it. */
  readonly advice?: string
}

export function ok(check: string, text: string): Finding {
  return { check, isOk: true, text }
}

export function note(check: string, text: string, advice: string): Finding {
  return { check, isOk: true, isNote: true, text, advice }
}

export function fault(check: string, text: string, advice: string): Finding {
  return { check, isOk: false, text, advice }
}
