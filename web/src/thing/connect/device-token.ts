/** The text in the programs while the token is not known. */
export const placeholder = 'YOUR_THING_TOKEN'

/** Number of characters of a thing token. */
const tokenLength = 43

/** The typed token without characters that a token cannot contain; undefined if the result is empty. */
export function typedToken(typed: string): string | undefined {
  return typed.replace(/[^A-Za-z0-9_-]/g, '') || undefined
}

/** Why the programs will not work with this token; undefined if no problem is known. */
export function tokenProblem(token: string | undefined): string | undefined {
  if (token === undefined) {
    return `Enter the token that was shown when the thing was made. Without it the programs contain ${placeholder}, and the server refuses them.`
  }
  if (token.length === tokenLength) return undefined
  return `A token has ${tokenLength} characters. This one has ${token.length}.`
}
