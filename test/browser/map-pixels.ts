import type { Page } from 'playwright-core'

/** How many pixels of the map have the colour that `map.css` gives to a part of it. */
export async function painted(page: Page, part: 'track' | 'marker'): Promise<number> {
  return (await paintedRows(page, part)).reduce((sum, count) => sum + count, 0)
}

/** The same as `painted()` for each row of pixels, from the top. */
export async function paintedRows(page: Page, part: 'track' | 'marker'): Promise<number[]> {
  return await page.getByRole('application').evaluate((map, name) => {
    // A copy: the browser warns of a canvas that is read again and again unless it was made for that.
    const copy = document.createElement('canvas')
    const brush = copy.getContext('2d', { willReadFrequently: true })
    if (!brush) throw new Error('no canvas')
    brush.fillStyle = getComputedStyle(map).getPropertyValue(`--map-${name}`)
    brush.fillRect(0, 0, 1, 1)
    const [colour] = new Uint32Array(brush.getImageData(0, 0, 1, 1).data.buffer)
    const rows: number[] = []
    for (const canvas of map.querySelectorAll('canvas')) {
      Object.assign(copy, { width: canvas.width, height: canvas.height })
      brush.drawImage(canvas, 0, 0)
      const pixels = new Uint32Array(brush.getImageData(0, 0, canvas.width, canvas.height).data.buffer)
      for (let row = 0; row < canvas.height; row++) {
        const ofRow = pixels.subarray(row * canvas.width, (row + 1) * canvas.width)
        rows[row] = (rows[row] ?? 0) + ofRow.filter(pixel => pixel === colour).length
      }
    }
    return rows
  }, part)
}
