import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ask, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import { createNamedThing, expectText, signIn, title } from './dashboard.ts'

const server = serverOfTests()
const browser = new TestBrowser()
/** More than two pages of the list. */
const count = 100

async function openThings(): Promise<Page> {
  const page = await browser.open(server().url)
  await signIn(page, server().adminKey)
  await page.getByRole('heading', { name: 'Things', exact: true }).waitFor()
  return page
}

function names(page: Page): Promise<string[]> {
  return page.locator('.things-table').getByRole('link').allTextContents()
}

describe('the page of the things', () => {
  it('lists them by name over all pages, with their number, and says which the map shows', async () => {
    const made = []
    for (let number = count; number > 0; number--) {
      made.push(await createNamedThing(server(), `pump ${number}`))
    }
    const [last] = made
    if (last) await write(server(), last, { values: [{ key: '$geo', value: [23.5, 60] }] })
    const page = await openThings()
    await page.getByText(`${count} things.`, { exact: true }).waitFor()
    const numbers = (from: number, to: number) => {
      return Array.from({ length: to - from + 1 }, (_, at) => `pump ${from + at}`)
    }
    expect(await names(page)).toEqual(numbers(1, 45))
    await page.getByText('None of the 45 things on this page of the list has a position yet.').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Page 2 of 3').waitFor()
    expect(await names(page)).toEqual(numbers(46, 90))
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Page 3 of 3').waitFor()
    expect(await names(page)).toEqual(numbers(91, 100))
    await page.getByText('The map shows 1 of the 10 things on this page of the list.').waitFor()
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)

    await page.getByLabel('Search by name').fill('pump 9')
    await page.getByText('11 things.', { exact: true }).waitFor()
    expect(await names(page)).toEqual(['pump 9', ...numbers(90, 99)])

    await page.goto(`${server().url}/#/operator`)
    const operators = page.getByRole('region', { name: 'Things', exact: true })
    await operators.getByRole('button', { name: 'Show more of 100' }).waitFor()
    const listed = await operators.getByRole('listitem').getByRole('link').allTextContents()
    expect(listed).toEqual(numbers(1, 20))
    for (const { thingId } of made) await ask(server(), 'DELETE', `/v2/admin/things/${thingId}`)
  })

  it('shows a thing with a name of blanks as one without a name', async () => {
    const blank = await createNamedThing(server(), '\u00a0 \u200b')
    const page = await openThings()
    await page.getByRole('link', { name: 'unnamed', exact: true }).click()
    await expectText(title(page), blank.thingId)
    await page.goto(`${server().url}/#/operator`)
    await page.getByRole('link', { name: 'unnamed', exact: true }).waitFor()
    await page.getByRole('button', { name: `Rename ${blank.thingId}` }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, blank.thingToken)
    await page.getByText(`Thing ${blank.thingId}`, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await ask(server(), 'DELETE', `/v2/admin/things/${blank.thingId}`)
  })

  it('knows a thing that others have written to, and finds the silent ones', async () => {
    const filled = await createNamedThing(server(), 'filled')
    const silent = await createNamedThing(server(), 'silent')
    await ask(server(), 'POST', `/v2/things/${filled.thingId}`, { values: [{ key: 'n', value: 1 }] })
    const page = await openThings()
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await expectText(row('filled'), /now|ago/)
    await expectText(row('silent'), 'never')
    await page.getByLabel('Which things').selectOption('Silent for 10 min')
    await page.getByText('1 of 2 things.').waitFor()
    expect(await names(page)).toEqual(['silent'])
    await page.getByLabel('Which things').selectOption('Never heard of')
    expect(await names(page)).toEqual(['silent'])

    await page.getByLabel('Which things').selectOption('Silent for 7 days')
    for (const [name, text] of [
      ['filled', 'None of them is so silent.'],
      ['no such', 'No name contains “no such”.'],
    ] as const) {
      await page.getByLabel('Search by name').fill(name)
      await page.getByText(text).waitFor()
      await page.getByText('The map shows the things in the list.').waitFor()
      expect(await page.getByText('position').count()).toBe(0)
    }

    await page.goto(`${server().url}/#/operator`)
    await page.getByText('its own token was never used').waitFor()
    for (const { thingId } of [filled, silent]) await ask(server(), 'DELETE', `/v2/admin/things/${thingId}`)
  })
})
