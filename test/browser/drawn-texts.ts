import type { Page } from 'playwright-core'

/** A text on a canvas. */
export interface DrawnText {
  readonly text: string
  /** Height of the font in pixels of the canvas. */
  readonly pixels: number
}

/** Watches what is written on the canvases of a page from now on. @returns gives all of it so far */
export async function watchDrawnTexts(page: Page): Promise<() => Promise<readonly DrawnText[]>> {
  const texts = await page.evaluateHandle(() => {
    const drawn: DrawnText[] = []
    const prototype = CanvasRenderingContext2D.prototype
    const fillText = prototype.fillText
    prototype.fillText = function (text, ...place) {
      drawn.push({ text, pixels: Number(/([\d.]+)px/.exec(this.font)?.[1]) })
      fillText.call(this, text, ...place)
    }
    return drawn
  })
  return () => texts.jsonValue()
}
