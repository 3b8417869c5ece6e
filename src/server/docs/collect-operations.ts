import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Operation } from '../../http/operation/operation.ts'
import { groups, introduction, operationObject, securitySchemes } from './openapi.ts'
import { Schemas } from './schemas.ts'

/** Makes `app.swagger()` give OpenAPI 3.1 of the routes that come after it and have an `Operation`. */
export async function collectOperations(app: FastifyInstance, version: string): Promise<void> {
  const schemas = new Schemas('draft-2020-12')
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Thingwire', version, description: introduction },
      // Relative to `/docs/json`: a proxy may have put the server under a prefix.
      servers: [{ url: '..' }],
      tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
      components: { securitySchemes },
    },
    // It keeps the list of routes and the document; what an operation says of itself it would not take over whole.
    transform: ({ route, url, ...documents }) => {
      if ('openapiObject' in documents) addOperation(documents.openapiObject, route, schemas)
      return { schema: { hide: true }, url }
    },
  })
}

interface Documented {
  readonly url: string
  readonly method: RouteOptions['method']
  readonly config?: { readonly operation?: Operation } | undefined
}

function addOperation(
  document: { paths?: object; components?: object },
  { url, method, config }: Documented,
  schemas: Schemas,
): void {
  if (!config?.operation) return
  const path = url.replaceAll(/:(\w+)/g, '{$1}')
  const operation = operationObject(config.operation, schemas)
  const methods = [method].flat().map(name => [name.toLowerCase(), operation])
  const paths: Record<string, object | undefined> = { ...document.paths }
  document.paths = { ...paths, [path]: { ...paths[path], ...Object.fromEntries(methods) } }
  document.components = { ...document.components, schemas: schemas.components }
}
