/** JSON objects are never changed in place here, and never read by a name that they inherit. */

/** RFC 7396: members of `patch` replace those of `target`, null removes, objects are merged. */
export function mergePatch(target: unknown, patch: object): object {
  const members = membersOf(target)
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, isObject(value) ? mergePatch(members.get(name), value) : value)
  }
  return Object.fromEntries(members)
}

/** Sets the value at the path; what is on the way and no object is replaced by one. */
export function setAt(target: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  const members = membersOf(target)
  members.set(name, setAt(members.get(name), rest, value))
  return Object.fromEntries(members)
}

/** Removes what is at the path, and nothing else: not the objects on the way, be they empty then. */
export function removeAt(target: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path
  const members = membersOf(target)
  if (name === undefined || !members.has(name)) return target
  if (rest.length === 0) members.delete(name)
  else members.set(name, removeAt(members.get(name), rest))
  return Object.fromEntries(members)
}

/** The value at the path; undefined if there is none. */
export function valueAt(target: unknown, path: readonly string[]): unknown {
  let value = target
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** Whether this is an object of JSON: no array, not null. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function membersOf(value: unknown): Map<string, unknown> {
  return new Map(isObject(value) ? Object.entries(value) : [])
}
