const visible = /[^\s\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\u2800]/u

/** A name for people: empty where nothing of it is seen, since a link of blanks alone has nothing to click. */
export function visibleName(name: string): string {
  return visible.test(name) ? name : ''
}
