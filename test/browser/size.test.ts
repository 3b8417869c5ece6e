import { expect, test } from 'vitest'
import { maximumBytes, sentFiles, totalBytes } from '../../bench/web/size.ts'

test('all files of the dashboard together are below 500 kB compressed', async () => {
  const files = await sentFiles()
  expect(files.map(({ name }) => name)).toContain('index.html')
  expect(totalBytes(files)).toBeLessThan(maximumBytes)
})
