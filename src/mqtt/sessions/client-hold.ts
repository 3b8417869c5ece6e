import { HoldLost } from '../../core/holds.ts'

/** Name of the hold that the connection has which acts for a client (contract §4.2). @param clientId inside the broker */
export const clientHold = (clientId: string) => `client/${clientId}`

/** What was not done in the name of a hold that is lost, another connection of the client has dealt with. @throws other errors */
export function unlessLost(error: unknown): void {
  if (!(error instanceof HoldLost)) throw error
}
