import type { Page } from 'playwright-core'
import { readVoyage, type VoyageRecord } from '../../src/cli/demo/voyage.ts'
import { type ServerAddress, type Thing, write } from '../helpers/http-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { createNamedThing, signIn, title } from './dashboard.ts'

/** Every page of the dashboard: its hash, and what is on it when it is complete. */
export const pages = {
  'sign-in': { hash: () => '', complete: page => page.getByRole('button', { name: 'Sign in' }).waitFor() },
  things: { hash: () => '#/', complete: page => page.getByRole('link', { name: 'boat' }).waitFor() },
  thing: { hash: thing => `#/things/${thing.thingId}`, complete: untilThing },
  connect: {
    hash: thing => `#/things/${thing.thingId}/connect`,
    complete: page => page.getByText('mosquitto_pub').first().waitFor(),
  },
  source: {
    hash: thing => `#/things/${thing.thingId}/connect`,
    complete: async page => {
      await page.getByRole('button', { name: 'My own topics' }).click()
      await page.getByRole('button', { name: 'Add source' }).click()
      await page.getByText('Waiting for the first message').waitFor()
    },
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

/** A body of them is well below `bodyLimit`. */
const recordsPerWrite = 5_000

/** Stores the whole voyage of examples/voyage, as if it had ended now. @returns its records, in order */
export async function storeVoyage(server: ServerAddress, thing: Thing): Promise<readonly VoyageRecord[]> {
  const records = (await readVoyage(new Date())).flatMap(row => row.records)
  for (let begin = 0; begin < records.length; begin += recordsPerWrite) {
    const values = records.slice(begin, begin + recordsPerWrite)
    const { status } = await write(server, thing, { values })
    if (status !== 201) throw new Error(`the voyage was not stored: ${status}`)
  }
  return records
}
