import type { ActivationCodes } from '../access.ts'

/** What a thing is answered that has registered itself (contract §6, activation); JSON text. */
export function activationText(activation: Awaited<ReturnType<ActivationCodes['activate']>>): string {
  const { thingToken, thingId } = activation
  return JSON.stringify({ status: 'created', message: 'thing activated', thingToken, thingId })
}
