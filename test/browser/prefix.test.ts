import { describe, expect, it, onTestFinished } from 'vitest'
import { ask, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { runCli } from '../helpers/server-process.ts'
import { startNginx } from '../proxies/proxy.ts'
import { TestBrowser } from './browser.ts'
import { createNamedThing, expectText, signIn, title } from './dashboard.ts'

const server = serverOfTests()
const browser = new TestBrowser()

describe.each(['/iot', '/a/b-c/d'])('the page behind nginx under the prefix "%s"', prefix => {
  it('signs in, shows values as they change, and what the operator has', async () => {
    const thing = await createNamedThing(server(), 'pump')
    await write(server(), thing, {
      values: [
        { key: 'flow', value: 1.5 },
        { key: '$geo', value: [23.5, 60] },
      ],
    })
    const root = await startNginx(server(), prefix)
    const page = await browser.open(`${root}/`)
    await signIn(page, server().adminKey)
    await page.getByRole('link', { name: 'pump' }).first().click()
    const value = page.getByRole('region', { name: 'flow', exact: true }).getByRole('status').first()
    await expectText(value, '1.5')
    await write(server(), thing, { values: [{ key: 'flow', value: 2.5 }] })
    await expectText(value, '2.5')
    await page.getByRole('application', { name: /^Map of the position/ }).waitFor()

    await page.goto(`${root}/#/things/${thing.thingId}/connect`)
    await page.getByText(root, { exact: true }).waitFor()
    await page.goto(`${root}/#/operator`)
    await expectText(title(page), 'Operator')
    await page.getByRole('region', { name: 'This node' }).getByRole('heading', { level: 3 }).first().waitFor()
    await page.reload()
    await expectText(title(page), 'Operator')
    await ask(server(), 'DELETE', `/v2/admin/things/${thing.thingId}`)
  })

  it.each(['/docs', '/docs/', '/docs/?a=b'])('leads %s to the page of the interfaces', async path => {
    const root = await startNginx(server(), prefix)
    const { ok, url } = await fetch(`${root}${path}`)
    expect({ ok, url }).toEqual({ ok: true, url: `${root}/docs` })
  })

  it('has the pages of the interfaces', async () => {
    const root = await startNginx(server(), prefix)
    const page = await browser.open(`${root}/docs`)
    await page.getByRole('heading', { name: /^Thingwire/ }).waitFor()
    await page.getByRole('button', { name: 'get /healthz', exact: false }).first().click()
    await page.getByRole('button', { name: 'Try it out' }).click()
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.getByText(`curl -X 'GET' \\`).waitFor()
    await page.getByText(`${root}/healthz`).first().waitFor()
    await page.getByText('"status": "ok"').first().waitFor()
    // It opens another tab.
    const href = (await page.getByRole('link', { name: 'AsyncAPI' }).getAttribute('href')) ?? ''
    await page.goto(new URL(href, page.url()).href)
    await page.getByRole('link', { name: 'OpenAPI' }).click()
    await page.getByRole('heading', { name: /^Thingwire/ }).waitFor()
  })

  it('gives pages of records that lead on', async () => {
    const thing = await createNamedThing(server(), 'counter')
    onTestFinished(() => ask(server(), 'DELETE', `/v2/admin/things/${thing.thingId}`))
    const values = Array.from({ length: 1_100 }, (_, value) => ({ key: 'n', value }))
    await write(server(), thing, { values })
    const root = await startNginx(server(), prefix)
    const read: unknown[] = []
    let url: string | undefined = `${root}/v2/things/${thing.thingToken}/resources/n?limit=500`
    while (url !== undefined) {
      const response: Response = await fetch(url)
      read.push(...((await response.json()) as { value: unknown }[]).map(({ value }) => value))
      const link: string | undefined = /<(.*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
      url = link === undefined ? undefined : new URL(link, response.url).href
    }
    expect(read).toEqual(values.map(({ value }) => value).reverse())

    const environment = { THINGWIRE_URL: root, THINGWIRE_TOKEN: thing.thingToken }
    const { stdout, code } = await runCli({ args: ['read', 'n', '--limit', '1100', '--json'], environment })
    expect([code, (JSON.parse(stdout) as unknown[]).length]).toEqual([0, 1_100])
  })
})
