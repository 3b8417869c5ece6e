import { createThing, type Thing } from '../helpers/http-client.ts'
import type { Service } from './service.ts'

/** Each on another node than the one before. */
export async function createThings(service: Service, count: number): Promise<readonly Thing[]> {
  return await Promise.all(Array.from({ length: count }, (_, place) => createThing(service.node(place))))
}
