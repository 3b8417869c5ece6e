import type { Page } from 'playwright-core'

/**
 * What a chart has in the colour of its line: how opaque each pixel is, 0 to 255, row by row from the top, without the axes; 0 where
 * there is another colour. Undefined as long as there is no chart.
 */
export async function chartPixels(page: Page) {
  if ((await page.locator('.chart-plot canvas').count()) === 0) return undefined
  return await page.locator('.chart-plot').evaluate(plot => {
    const canvas = plot.querySelector('canvas')
    const over = plot.querySelector('.u-over')?.getBoundingClientRect()
    // A copy: the browser warns of a canvas that is read again and again unless it was made for that.
    const brush = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    if (!canvas || !over || !brush) throw new Error('no chart')
    brush.fillStyle = getComputedStyle(plot).getPropertyValue('--chart-line')
    brush.fillRect(0, 0, 1, 1)
    const colour = [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3)
    Object.assign(brush.canvas, { width: canvas.width, height: canvas.height })
    brush.drawImage(canvas, 0, 0)
    const outer = canvas.getBoundingClientRect()
    const [left = 0, top = 0, width = 0, height = 0] = [
      over.x - outer.x,
      over.y - outer.y,
      over.width,
      over.height,
    ].map(Math.round)
    const { data } = brush.getImageData(left, top, width, height)
    const opacities = Array.from({ length: width * height }, (_, pixel) => {
      const isLine = colour.every((part, channel) => Math.abs(part - (data[4 * pixel + channel] ?? 0)) < 24)
      return isLine ? (data[4 * pixel + 3] ?? 0) : 0
    })
    return { width, height, opacities }
  })
}
