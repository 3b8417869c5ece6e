import type { FieldError, Reason } from '../../errors.ts'

/** What is wrong with one field of a record. `atRecord` adds the index of the record. */
export interface Problem {
  readonly field: string
  readonly reason: Reason
  readonly message: string
}

/** Distinguishes a problem from the result of a parse function. */
export function isProblem(result: object): result is Problem {
  return 'reason' in result
}

/** How messages name a record of a write, such as `values[2]`. */
export function placeText(place: number): string {
  return `values[${place}]`
}

export function atRecord(index: number, problem: Problem): FieldError {
  return { index, field: problem.field, reason: problem.reason, message: problem.message }
}
