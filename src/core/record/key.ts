/**
 * Names of ordinary resources: letters, digits, `.`, `-`, `_` [interface 2.2; contract §2.1]. Not `.` or `..`, which no URL can
 * name: libraries fold them away, `%2e` too.
 */
export const ordinaryKey = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

/** Whether `key` may name an ordinary resource. */
export function isOrdinaryKey(key: string): boolean {
  return ordinaryKey.test(key)
}

/** Whether `key` is spelled like a magic resource, known or not (contract §1). */
export function isMagicKey(key: string): boolean {
  return key.charCodeAt(0) === 0x24
}
