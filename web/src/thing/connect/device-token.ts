/** Stands in the programs where the token is not known. */
export const placeholder = 'YOUR_THING_TOKEN'

/** Characters of a thing token. */
const tokenLength = 43

/** A token as it stands in a program: what can be in none is left out; undefined if nothing is left. */
export function typedToken(typed: string): string | undefined {
  return typed.replace(/[^A-Za-z0-9_-]/g, '') || undefined
}

/** Why the programs will not work with it; undefined if nothing speaks against it. */
export function tokenProblem(token: string | undefined): string | undefined {
  if (token === undefined) {
    return `Enter the token that was shown when the thing was made. Without it the programs contain ${placeholder}, and the server refuses them.`
  }
  if (token.length === tokenLength) return undefined
  return `A token has ${tokenLength} characters. This one has ${token.length}.`
}
