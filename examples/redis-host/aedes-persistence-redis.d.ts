/** The package has no types of its own. This is the part that the example uses. */
declare module 'aedes-persistence-redis' {
  import type { Redis } from 'ioredis'

  export default function createRedisPersistence(options: { readonly conn: Redis }): object
}
