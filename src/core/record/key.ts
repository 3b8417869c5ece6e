/**
 * Keys of ordinary resources: letters, digits, `.`, `-`, `_` [interface 2.2; contract §2.1]. `.` and `..` are not allowed, since
 * libraries remove them from URLs, even if escaped as `%2e`.
 */
export const ordinaryKey = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

export function isOrdinaryKey(key: string): boolean {
  return ordinaryKey.test(key)
}

/** Whether `key` has the form of a magic key, whether or not such a magic resource exists (contract §1). */
export function isMagicKey(key: string): boolean {
  return key.charCodeAt(0) === 0x24
}
