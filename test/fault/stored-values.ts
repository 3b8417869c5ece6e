import { readAll, type ServerAddress, type Thing } from '../helpers/http-client.ts'

/** Every value of every resource of the things, as often as it is stored. */
export async function storedValues(server: ServerAddress, things: readonly Thing[]): Promise<string[]> {
  const values: string[] = []
  for (const thing of things) {
    const response = await fetch(`${server.url}/v2/things/${thing.thingToken}/resources`)
    const { resources } = (await response.json()) as { resources: string[] }
    for (const key of resources) {
      for (const { value } of await readAll(server, thing, key)) values.push(String(value))
    }
  }
  return values
}
