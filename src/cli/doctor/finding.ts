/** What one check of `thingwire doctor` has found. */
export interface Finding {
  /** What was checked, in a word or two, such as `ready` or `last seen`. */
  readonly check: string
  readonly isOk: boolean
  /** Set if the finding is worth knowing but is not a fault. */
  readonly isNote?: true
  readonly text: string
  /** What the user should do about the finding. */
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
