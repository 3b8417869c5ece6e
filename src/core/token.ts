import { createHash, randomBytes, randomInt } from 'node:crypto'

/**
 * Secrets and names of things (contract §1). A token is 32 random bytes, so its plain SHA-256 is safe to keep:
 * there is nothing to guess that a salt would slow down.
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

/** @returns so many random bytes as base64url. Those that begin with a hyphen are left out: a command takes them for an option. */
export function createSecret(bytes: number): string {
  for (;;) {
    const secret = randomBytes(bytes).toString('base64url')
    if (!secret.startsWith('-')) return secret
  }
}

/** Whether `text` is spelled like a token; says nothing of whether it is known. */
export function isToken(text: string): boolean {
  return tokenForm.test(text)
}

/** What is stored in a secret's place: its SHA-256, 43 characters of base64url. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** A new public id of a thing: 16 characters of `a-z2-7` (80 random bits). */
export function createThingId(): string {
  return Array.from({ length: 16 }, () => thingIdAlphabet[randomInt(32)]).join('')
}

/** Whether `text` is spelled like a thing id. */
export function isThingId(text: string): boolean {
  return thingIdForm.test(text)
}

/** The address that opens the page signed in. A browser sends no server the part behind `#`. */
export function signInLink(url: string, sessionToken: string): string {
  return `${url}/#session=${sessionToken}`
}
