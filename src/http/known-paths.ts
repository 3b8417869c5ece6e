import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ThingwireError } from '../errors.ts'

/** The routes of a scope, to tell a wrong method on a known path (405) from an unknown path (404). */
export class KnownPaths {
  readonly #methods = new Map<string, Set<string>>()

  /** Takes note of every route that is registered in the scope from now on. */
  watch(scope: FastifyInstance): void {
    scope.addHook('onRoute', ({ url, method, handler }) => {
      if (handler === this.refuse) return
      const pattern = normalise(url)
      const methods = this.#methods.get(pattern) ?? new Set()
      for (const name of [method].flat()) methods.add(name)
      this.#methods.set(pattern, methods)
    })
  }

  /** Makes every other method of `url`, which may end in a wildcard, answer as `refuse` does. */
  refuseRest(scope: FastifyInstance, url: string): void {
    const known = this.#methods.get(normalise(scope.prefix + url))
    const method = scope.supportedMethods.filter(name => !known?.has(name))
    // In onRequest too: a body is not worth reading.
    scope.route({ method, url, onRequest: this.refuse, handler: this.refuse })
  }

  /**
   * Answers what no route answers, without echoing the path.
   *
   * @throws ThingwireError not_found, method_not_allowed (and says in `Allow` what is)
   */
  readonly refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    const parts = normalise(request.raw.url ?? '').split('/')
    for (const [pattern, methods] of this.#methods) {
      // With a method that it has, a path got here because one of its parts is too long.
      if (methods.has(request.method) || !matches(pattern.split('/'), parts)) continue
      reply.header('allow', [...methods].sort().join(', '))
      throw new ThingwireError('method_not_allowed')
    }
    throw new ThingwireError('not_found')
  }
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  if (pattern.length !== parts.length) return false
  return pattern.every((part, place) => (part.startsWith(':') ? parts[place] !== '' : part === parts[place]))
}

/** Without query, doubled slashes and trailing slash: the tolerances of the host's router (`hostOptions`). */
function normalise(url: string): string {
  const [path = ''] = url.split('?', 1)
  return path.replaceAll(/\/+/g, '/').replace(/(?<=.)\/$/, '')
}
