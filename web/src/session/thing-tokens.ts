const tokens = new Map<string, string>()

/** Keeps a token that the server tells only once, in memory, for the programs that are shown to paste. */
export function keepThingToken(thingId: string, token: string | undefined): void {
  if (token === undefined) tokens.delete(thingId)
  else tokens.set(thingId, token)
}

/** The token of a thing that was made or pasted since somebody signed in here. */
export function keptThingToken(thingId: string): string | undefined {
  return tokens.get(thingId)
}

/** Whoever signs in next must not find them. */
export function forgetThingTokens(): void {
  tokens.clear()
}
