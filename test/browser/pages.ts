import type { Page } from 'playwright-core'
import { type Thing, write } from '../helpers/http-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { createNamedThing, signIn, title } from './dashboard.ts'
import { storeVoyage } from './voyage.ts'

/** Every page of the dashboard: its hash, and what is on it when it is complete. */
export const pages = {
  'sign-in': { hash: () => '', complete: page => page.getByRole('button', { name: 'Sign in' }).waitFor() },
  things: { hash: () => '#/', complete: page => page.getByRole('link', { name: 'boat' }).waitFor() },
  thing: { hash: thing => `#/things/${thing.thingId}`, complete: untilThing },
  connect: {
    hash: thing => `#/things/${thing.thingId}/connect`,
    complete: page => page.getByText('mosquitto_pub').first().waitFor(),
  },
  operator: {
    hash: () => '#/operator',
    complete: page => page.getByRole('link', { name: 'boat' }).waitFor(),
  },
} satisfies Record<string, { hash: (thing: Thing) => string; complete: (page: Page) => Promise<void> }>

export type PageName = keyof typeof pages

/** A thing that has something for every part of its page. */
export async function createBoat(server: ServerProcess): Promise<Thing> {
  const thing = await createNamedThing(server, 'boat')
  await storeVoyage(server, thing)
  const settings = { name: 'Plaka', alarm: { depth: 3, sound: 'horn', isOn: true }, interval: 2 }
  await write(server, thing, { values: [{ key: '$settings', value: settings }] })
  await write(server, thing, { values: [{ key: 'state', value: 'under sail' }] })
  await write(server, thing, { values: [{ key: 'no spaces', value: 1 }] })
  return thing
}

/** Shows a page that has just been opened at its address, complete. */
export async function showPage(page: Page, name: PageName, credential: string): Promise<void> {
  if (name !== 'sign-in') {
    await signIn(page, credential)
    await title(page).waitFor()
  }
  await pages[name].complete(page)
}

async function untilThing(page: Page): Promise<void> {
  await page.getByRole('img', { name: /^Chart of/ }).waitFor()
  await page.getByText('positions shown').waitFor()
  await page.getByRole('button', { name: 'Save' }).waitFor()
  await page.getByText('invalid_key').first().waitFor()
}
