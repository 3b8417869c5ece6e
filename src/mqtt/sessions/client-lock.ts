/** Name of the lock that the connection has which acts for a client (contract §4.2). @param clientId inside the broker */
export const clientLock = (clientId: string) => `client/${clientId}`
