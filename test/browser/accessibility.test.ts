import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { desktop, TestBrowser } from './browser.ts'
import { createBoat, type PageName, pages, showPage } from './pages.ts'

const server = serverOfTests()
const browser = new TestBrowser()
/** The last is the narrowest phone. */
const looks = [
  { colorScheme: 'light', viewport: desktop },
  { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
] as const
let boat: Thing
beforeAll(async () => {
  boat = await createBoat(server())
})

test.each(Object.keys(pages) as PageName[])(
  'the page %s has names, headings in order and legible text, and fits a phone',
  async name => {
    const page = await browser.open(`${server().url}/${pages[name].hash(boat)}`)
    await showPage(page, name, server().adminKey)
    const nodes = await accessibleNodes(page)
    expect(unnamed(nodes)).toEqual([])
    expect(headingFaults(nodes)).toEqual([])
    for (const { colorScheme, viewport } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      const pixelsToScrollSideways = await overflow(page)
      const faults = { colorScheme, faint: await faintTexts(page), pixelsToScrollSideways }
      expect(faults).toEqual({ colorScheme, faint: [], pixelsToScrollSideways: 0 })
    }
  },
)

/** How far the page can be scrolled sideways. */
async function overflow(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
}

/** Something in a page as assistive technology is told of it. */
interface AccessibleNode {
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
async function accessibleNodes(page: Page): Promise<readonly AccessibleNode[]> {
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
function unnamed(nodes: readonly AccessibleNode[]): readonly string[] {
  return nodes.filter(({ role, name }) => namedRoles.has(role) && name === '').map(({ role }) => role)
}

/** What is wrong with the headings: other than one of the first level, or a level that is left out. */
function headingFaults(nodes: readonly AccessibleNode[]): readonly string[] {
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

/** Text that is too faint on what is behind it (WCAG 2.2, 1.4.3 AA), each with the contrast that it has. */
async function faintTexts(page: Page): Promise<readonly string[]> {
  await page.evaluate(endOfTransitions)
  return await page.evaluate(findFaintTexts)
}

/** Runs in the page, as does what is below. Colours are on their way after the colour scheme has changed. */
async function endOfTransitions(): Promise<void> {
  const transitions = document.getAnimations().filter(animation => animation instanceof CSSTransition)
  await Promise.allSettled(transitions.map(({ finished }) => finished))
}

function findFaintTexts(): string[] {
  type Colour = readonly [red: number, green: number, blue: number, alpha: number]
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })

  /** Of any notation: painted, and looked at. */
  function parse(notation: string): Colour {
    if (!canvas) throw new Error('no canvas')
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = notation
    canvas.fillRect(0, 0, 1, 1)
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data
    return [red, green, blue, alpha / 255]
  }

  function over(front: Colour, back: Colour): Colour {
    const mix = (channel: 0 | 1 | 2) => front[channel] * front[3] + back[channel] * (1 - front[3])
    return [mix(0), mix(1), mix(2), 1]
  }

  function backgroundOf(element: Element | null): Colour {
    if (!element) return parse('Canvas')
    const own = parse(getComputedStyle(element).backgroundColor)
    return own[3] === 1 ? own : over(own, backgroundOf(element.parentElement))
  }

  function luminance(colour: Colour): number {
    const linear = (channel: number) => {
      const share = channel / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    }
    return 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
  }

  const faint = new Set<string>()
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent?.trim() ?? ''
    const element = texts.currentNode.parentElement
    const isShown = element?.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    // What cannot be used need not be legible.
    if (!element || text === '' || !isShown || element.closest(':disabled')) continue
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    const background = backgroundOf(element)
    const [front, back] = [luminance(over(parse(color), background)), luminance(background)]
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05)
    const size = Number.parseFloat(fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700)
    if (contrast < (isLarge ? 3 : 4.5)) faint.add(`${contrast.toFixed(2)}: ${text.slice(0, 40)}`)
  }
  return [...faint]
}
