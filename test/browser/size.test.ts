import { expect, test } from 'vitest'
import { isFineCoast, maximumBytes, maximumCoastBytes, sentFiles, totalBytes } from '../../bench/web/size.ts'

test('all files of the dashboard but the finest coastline are below 500 kB compressed, and that below 600 kB', async () => {
  const files = await sentFiles()
  expect(files.map(({ name }) => name)).toContain('index.html')
  expect(totalBytes(files.filter(file => !isFineCoast(file)))).toBeLessThan(maximumBytes)
  const coast = files.filter(isFineCoast)
  expect(coast).toHaveLength(1)
  expect(totalBytes(coast)).toBeLessThan(maximumCoastBytes)
})
