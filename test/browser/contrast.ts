import type { Page } from 'playwright-core'

/** Text that is too faint on what is behind it (WCAG 2.2, 1.4.3 AA), each with the contrast that it has. */
export async function faintTexts(page: Page): Promise<readonly string[]> {
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
