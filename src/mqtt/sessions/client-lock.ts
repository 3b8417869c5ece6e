/** Name of the lock of a client (contract §4.2). @param clientId client id inside the broker */
export const clientLock = (clientId: string) => `client/${clientId}`
