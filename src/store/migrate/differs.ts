/**
 * What was moved is not the same on both sides.
 *
 * @throws Error for the operator, naming it
 */
export function differs(what: string, here: string, there: string): never {
  throw new Error(
    `the two stores differ in ${what}: the embedded store has ${here}, Redis has ${there}. No server starts on the store in Redis: remove its keys, and migrate again`,
  )
}
