/** Name of the hold that the connection has which acts for a client (contract §4.2). @param clientId inside the broker */
export const clientHold = (clientId: string) => `client/${clientId}`
