import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TwoServers } from '../forward/two-servers.ts'
import { write } from '../helpers/http-client.ts'
import { mqttOfTest, serverOfTests } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { TestBrowser } from './browser.ts'
import { createNamedThing, expectText, signIn, title } from './dashboard.ts'

const server = serverOfTests()
const browser = new TestBrowser()

async function openOperator(expectedErrors = /^$/): Promise<Page> {
  const page = await browser.open(`${server().url}/#/operator`, { expectedErrors })
  await signIn(page, server().adminKey)
  await expectText(title(page), 'Operator')
  // A list that comes moves what is below it: a button that is pressed just then is released elsewhere.
  await expect.poll(() => page.locator('section[aria-busy=true]').count()).toBe(0)
  return page
}

function region(page: Page, name: string) {
  return page.getByRole('region', { name, exact: true })
}

describe('the page of the operator', () => {
  it('creates a thing, and shows its token once, with a QR code', async () => {
    const page = await openOperator()
    const things = region(page, 'Things')
    await things.getByLabel('Name', { exact: true }).fill('pump')
    await things.getByRole('button', { name: 'Create thing' }).click()
    await page.getByRole('img', { name: 'QR code: Token of pump' }).waitFor()
    const thingToken = (await things.getByText(/^[\w-]{43}$/).textContent()) ?? ''
    const { status } = await write(
      server(),
      { thingId: '', thingToken },
      { values: [{ key: 'flow', value: 1 }] },
    )
    expect(status).toBe(201)

    await things.getByRole('button', { name: 'Done' }).click()
    await things.getByRole('link', { name: 'pump' }).waitFor()
    await things.getByRole('button', { name: 'Tokens of pump' }).click()
    await things.getByText('in use').waitFor()
    await page.reload()
    await things.getByRole('link', { name: 'pump' }).waitFor()
    expect(await page.content()).not.toContain(thingToken)
  })

  it('creates no thing without a name, and asks before a second one of the same', async () => {
    await createNamedThing(server(), 'twin')
    await createNamedThing(server(), 'all others')
    const page = await openOperator()
    const things = region(page, 'Things')
    const create = things.getByRole('button', { name: 'Create thing' })
    await create.click()
    await things.getByLabel('Name', { exact: true }).fill('twin')
    await create.click()
    await expectText(things.getByRole('alert'), 'There is a thing called twin already')
    expect(await things.getByRole('link', { name: 'twin' }).count()).toBe(1)
    await create.click()
    await expect.poll(() => things.getByRole('link', { name: 'twin' }).count()).toBe(2)
    const names = await things.getByRole('listitem').getByRole('link').allTextContents()
    expect(names).toEqual(names.toSorted())
    expect(names).not.toContain('unnamed')
  })

  it('creates a session that sees what it was made for, and revokes it at once', async () => {
    const thing = await createNamedThing(server(), 'well')
    await write(server(), thing, { values: [{ key: 'level', value: 3.25 }] })
    const page = await openOperator()
    const sessions = region(page, 'Sessions')
    await sessions.getByLabel('May').selectOption('read')
    await sessions.getByRole('button', { name: 'Create session' }).click()
    await sessions.getByRole('img', { name: /^QR code: Session/ }).waitFor()
    const sessionToken = (await sessions.getByText(/^[\w-]{43,}$/).textContent()) ?? ''
    const link = (await sessions.getByText(/#session=/).textContent()) ?? ''
    expect(link).toBe(`${server().url}/#session=${sessionToken}`)
    await sessions.getByText('The server listens on this machine only.').waitFor()
    await sessions.getByRole('button', { name: 'Done' }).click()

    const guest = await browser.open(link, { expectedErrors: /status of 401/ })
    await guest.getByRole('link', { name: 'well' }).click()
    await expectText(guest.getByRole('region', { name: 'level', exact: true }), '3.25')
    await sessions.getByRole('button', { name: /^Revoke session/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await expectText(guest.getByRole('alert'), 'You were signed out')
  })

  it('makes activation codes with which devices register', async () => {
    const page = await openOperator()
    const codes = region(page, 'Activation codes')
    await codes.getByRole('button', { name: 'Create codes' }).click()
    const code = codes.getByRole('listitem').getByText(/^[\w-]{34}$/)
    const body = JSON.stringify({ activationCode: await code.textContent() })
    expect((await fetch(`${server().url}/v2/things`, { method: 'POST', body })).status).toBe(201)
  })

  it('deletes a thing only after its name is typed', async () => {
    await createNamedThing(server(), 'obsolete')
    const page = await openOperator()
    await page.getByRole('button', { name: 'Delete obsolete' }).click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Delete for good' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('obsolete')
    await confirm.click()
    await page.getByRole('link', { name: 'obsolete' }).waitFor({ state: 'detached' })
  })

  it('adds a source, shows what it did not read, and removes it after a confirmation', async () => {
    const page = await openOperator(/status of 4(00|09)/)
    const sources = region(page, 'Sources')
    await sources.getByRole('button', { name: 'My own topics' }).click()
    await sources.getByLabel('Name of the source').fill('garden')
    const pattern = sources.getByLabel('Topics, with the levels of device and key')
    await pattern.fill('garden/{key}/{device}')
    const add = sources.getByRole('button', { name: 'Add source' })
    await add.click()
    await expectText(sources.getByRole('alert'), 'pattern must be a topic with {key} as its last level')
    await pattern.fill('garden/{device}/{key}')
    await add.click()
    const password = sources.getByText(/^[\w-]{43}$/)
    const client = await mqttOfTest({
      url: server().mqttUrl,
      username: 'garden',
      password: (await password.textContent()) ?? '',
    })
    await sources.getByText('Waiting for the first message').waitFor()
    await client.publish('garden/sprinkler/broken', Uint8Array.of(0xff))
    await client.publish('garden/sprinkler/pressure', '1.5')
    await sources.getByRole('link', { name: 'sprinkler' }).waitFor()
    await sources.getByText(/^Not read: .*garden\/sprinkler\/broken/).waitFor()

    await page.reload()
    const remove = page.getByRole('button', { name: 'Delete source garden' })
    const row = sources.getByRole('listitem').filter({ has: remove })
    await expectText(row, /levels with garden\/\{device\}\/\{key\}; garden\/\+\/#1 thing, made /)
    expect(await password.count()).toBe(0)
    await row.getByRole('button', { name: 'Messages of garden that were not read' }).click()
    await expectText(row.getByRole('listitem'), 'garden/sprinkler/broken')

    await sources.getByRole('button', { name: 'My own topics' }).click()
    await add.click()
    await expectText(sources.getByRole('alert'), 'Another source has some of these topics.')
    await add.click()
    await sources.getByText('Waiting for the first message').waitFor()
    await remove.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await client.closed
    await row.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'sprinkler', exact: true }).waitFor()
  })

  it('shows what waits for the central server, and which thing it does not take', async () => {
    const servers = await TwoServers.open(await temporaryDirectory(), 2)
    onTestFinished(() => servers.end())
    const [first, second] = servers.things
    if (!first || !second) throw new Error('there are two things')
    await servers.writeMap({ ...servers.map, [first.here.thingId]: 'A'.repeat(43) })
    const edge = await servers.startEdge()
    await write(edge, first.here, { values: [{ key: 'n', value: 1 }] })
    await write(edge, second.here, { values: [{ key: 'n', value: 1 }] })
    await edge.logged(/does not accept the thing/)
    const page = await browser.open(`${edge.url}/#/operator`)
    await signIn(page, edge.adminKey)
    const forwarding = region(page, 'Forwarding')
    await forwarding.getByText(/1 record \(.*\) waits/).waitFor()
    await forwarding.getByText(`Thing ${first.here.thingId} is held back since`).waitFor()
    await forwarding.getByText(/1 record forwarded since the start/).waitFor()
  })
})
