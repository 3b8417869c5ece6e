import { createHash, randomBytes, randomInt } from 'node:crypto'

/**
 * Secrets and ids of things (contract §1). A token is 32 random bytes, so its plain SHA-256 is safe to store: nobody can guess it,
 * with or without a salt.
 */

/** Characters. */
export const tokenLength = 43
export const tokenForm = /^[A-Za-z0-9_-]{43}$/
export const thingIdForm = /^[a-z2-7]{16}$/
export const activationCodeForm = /^[A-Za-z0-9_-]{34}$/
const thingIdAlphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** A new secret: 43 characters of base64url. Serves as thing token, session token and admin key. */
export function createToken(): string {
  return createSecret(32)
}

/** @returns random bytes as base64url, never with a hyphen first: a command would take that for an option. */
export function createSecret(bytes: number): string {
  for (;;) {
    const secret = randomBytes(bytes).toString('base64url')
    if (!secret.startsWith('-')) return secret
  }
}

/** Whether `text` has the form of a token, known or not. */
export function isToken(text: string): boolean {
  return tokenForm.test(text)
}

/** The SHA-256 that is stored in place of a secret, 43 characters of base64url. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** A new public id of a thing: 16 characters of `a-z2-7` (80 random bits). */
export function createThingId(): string {
  return Array.from({ length: 16 }, () => thingIdAlphabet[randomInt(32)]).join('')
}

/** Whether `text` has the form of a thing id. */
export function isThingId(text: string): boolean {
  return thingIdForm.test(text)
}

/** The URL that opens the page signed in. A browser never sends the part after `#` to a server. */
export function signInLink(url: string, sessionToken: string): string {
  return `${url}/#session=${sessionToken}`
}
