import type { FieldError, Reason } from '../../errors.ts'
import type { WriteAnswer } from '../ports.ts'

const created = { status: 'created', message: 'created' }
const allCreated = JSON.stringify(created)

/** The answer to a write that is stored, as JSON (contract §6.2). */
export function createdText({ rejected }: WriteAnswer): string {
  return rejected ? JSON.stringify({ ...created, rejected }) : allCreated
}

export interface Refused {
  /** Of HTTP. */
  readonly status: number
  readonly reason: Reason
  readonly message: string
  readonly errors?: readonly FieldError[] | undefined
}

/** The answer to a refused request, as JSON (contract §6.1). */
export function errorText({ status, reason, message, errors }: Refused): string {
  return JSON.stringify({ status: 'error', code: status, reason, message, errors })
}
