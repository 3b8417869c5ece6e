import type { FieldError, Reason } from '../../errors.ts'

/** What is wrong with one field of a record, before it is known which record that is. */
export interface Problem {
  readonly field: string
  readonly reason: Reason
  readonly message: string
}

/** Distinguishes a problem from the parsed thing that a parse function returns otherwise. */
export function isProblem(result: object): result is Problem {
  return 'reason' in result
}

/** Which record of a write a message means, spelled as in the body that its sender has: `values[2]`, from 0 as in JSON. */
export function placeText(place: number): string {
  return `values[${place}]`
}

/** The problem as the error of record `index`. */
export function atRecord(index: number, problem: Problem): FieldError {
  return { index, field: problem.field, reason: problem.reason, message: problem.message }
}
