import type { ThingwireError } from '../../errors.ts'
import type { WriteAnswer } from '../ports.ts'

const created = { status: 'created', message: 'created' }
const allCreated = JSON.stringify(created)

/** The answer to a write that is stored, as JSON (contract §6.2). */
export function createdText({ rejected }: WriteAnswer): string {
  return rejected ? JSON.stringify({ ...created, rejected }) : allCreated
}

export type Refused = Pick<ThingwireError, 'status' | 'reason' | 'message'> &
  Partial<Pick<ThingwireError, 'errors'>>

/** The answer to a refused request, as JSON (contract §6.1). */
export function errorText({ status, reason, message, errors }: Refused): string {
  return JSON.stringify({ status: 'error', code: status, reason, message, errors })
}
