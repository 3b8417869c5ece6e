const tokens = new Map<string, string>()

/** Keeps a token in memory, for the example programs. The server shows a token only once. */
export function keepThingToken(thingId: string, token: string | undefined): void {
  if (token === undefined) tokens.delete(thingId)
  else tokens.set(thingId, token)
}

/** The token of a thing, if it was created or pasted since the sign-in. */
export function keptThingToken(thingId: string): string | undefined {
  return tokens.get(thingId)
}

/** The next user must not get the tokens. */
export function forgetThingTokens(): void {
  tokens.clear()
}
