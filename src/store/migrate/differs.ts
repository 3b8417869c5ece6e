/**
 * What was moved is not the same on both sides.
 *
 * @throws Error for the operator, naming it
 */
export function differs(what: string, here: string, there: string): never {
  throw new Error(
    `not the same on both sides: ${what}: the embedded store has ${here}, Redis ${there}. Nothing was opened to servers: remove the keys in Redis, and migrate again`,
  )
}
