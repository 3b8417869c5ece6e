import type { Page } from 'playwright-core'

/** Something in a page as assistive technology is told of it. */
export interface AccessibleNode {
  readonly role: string
  readonly name: string
  /** Of a heading. */
  readonly level?: number
}

/** What can be used, or is shown in place of words: it is nothing to who does not see it unless it has a name. */
const namedRoles = new Set([
  ...['button', 'checkbox', 'combobox', 'link', 'radio', 'searchbox', 'slider', 'spinbutton', 'textbox'],
  ...['application', 'dialog', 'img', 'image', 'region', 'navigation'],
])

/** The accessibility tree as Chromium computes it, in the order of the page. */
export async function accessibleNodes(page: Page): Promise<readonly AccessibleNode[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, properties = [] }) => {
      const level: unknown = properties.find(property => property.name === 'level')?.value.value
      const words = { role: String(role?.value), name: String(name?.value ?? '').trim() }
      return typeof level === 'number' ? { ...words, level } : words
    })
}

/** The roles of what has no name and needs one. */
export function unnamed(nodes: readonly AccessibleNode[]): readonly string[] {
  return nodes.filter(({ role, name }) => namedRoles.has(role) && name === '').map(({ role }) => role)
}

/** What is wrong with the headings: other than one of the first level, or a level that is left out. */
export function headingFaults(nodes: readonly AccessibleNode[]): readonly string[] {
  const headings = nodes.filter(({ role }) => role === 'heading')
  const titles = headings.filter(({ level }) => level === 1)
  const faults = titles.length === 1 ? [] : [`${titles.length} headings of level 1`]
  let before = 0
  for (const { name, level = 0 } of headings) {
    if (level > before + 1) faults.push(`level ${level} after ${before}: ${name}`)
    before = level
  }
  return faults
}
