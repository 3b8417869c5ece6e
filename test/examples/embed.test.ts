import { readFile } from 'node:fs/promises'
import { chromium } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { runExample } from './run-example.ts'

test('examples/embed writes, reads, hears, and shows it in Chromium', async () => {
  const environment = {
    ADMIN_KEY: 'an-admin-key-for-the-embedding-example',
    PORT: '0',
    DATA_DIR: await temporaryDirectory(),
  }
  const ready = /^pressure_bar is 2\.4 at \S+Z\n(?:.*\n)*?The page is at ((\S+)\/#session=\S{43})$/
  const host = await runExample('embed/server.ts', [], ready, environment)
  const [link = '', url = ''] = host.ready
  const pressures = await (await fetch(`${url}/pressures`)).json()
  expect(pressures).toMatchObject([{ key: 'pressure_bar', value: 2.4, geo: { lat: 59.9, long: 23.4 } }])
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(link)
  await page.getByRole('link', { name: 'pump' }).click()
  await page.getByText('2.4').first().waitFor()
  await page.close()
  expect(await host.stop()).toEqual({ code: 0, stderr: '' })
})

test('examples/embed has at most twenty lines and no cast', async () => {
  const text = await readFile('examples/embed/server.ts', 'utf8')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(20)
  expect(text).not.toMatch(/\bas (?!const\b)\w|\bany\b|@ts-/)
})

test('docs/use/plugins.md shows the file that is run', async () => {
  const [docs, file] = await Promise.all(
    ['docs/use/plugins.md', 'examples/embed/server.ts'].map(path => readFile(path, 'utf8')),
  )
  expect(docs).toContain(`\`\`\`ts\n${file}\`\`\`\n`)
})
