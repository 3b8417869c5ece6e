import { createHash, randomBytes, randomInt } from 'node:crypto'

/**
 * Secrets and ids of things (contract §1). A token is 32 random bytes, so its plain SHA-256 is safe to store: even without a salt,
 * nobody can guess the token.
 */

/** Length of a token, characters. */
export const tokenLength = 43
export const tokenForm = /^[A-Za-z0-9_-]{43}$/
export const thingIdForm = /^[a-z2-7]{16}$/
export const activationCodeForm = /^[A-Za-z0-9_-]{34}$/
const thingIdAlphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** Creates a secret of 43 characters of base64url. Used as a thing token, a session token or the admin key. */
export function createToken(): string {
  return createSecret(32)
}

/** @returns random bytes as base64url. Never begins with a hyphen, since commands take such an argument for an option */
export function createSecret(bytes: number): string {
  for (;;) {
    const secret = randomBytes(bytes).toString('base64url')
    if (!secret.startsWith('-')) return secret
  }
}

/** Whether `text` has the form of a token, whether or not such a token exists. */
export function isToken(text: string): boolean {
  return tokenForm.test(text)
}

/** The SHA-256 that is stored instead of a secret: 43 characters of base64url. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** Creates a public thing id: 16 characters of `a-z2-7` (80 random bits). */
export function createThingId(): string {
  return Array.from({ length: 16 }, () => thingIdAlphabet[randomInt(32)]).join('')
}

/** Whether `text` has the form of a thing id. */
export function isThingId(text: string): boolean {
  return thingIdForm.test(text)
}

/** A URL that opens the web page and signs the user in. A browser never sends the part after `#` to a server. */
export function signInLink(url: string, sessionToken: string): string {
  return `${url}/#session=${sessionToken}`
}
