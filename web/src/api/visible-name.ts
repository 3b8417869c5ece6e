const visible = /[^\s\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\u2800]/u

/** The name, or empty if no character is visible: a link with such a name could not be clicked. */
export function visibleName(name: string): string {
  return visible.test(name) ? name : ''
}
