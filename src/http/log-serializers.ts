import type { FastifyRequest, RegisterOptions } from 'fastify'

/**
 * What a host's log shows of a request: the pattern of its path. The path itself may hold a thing token or an
 * activation code, and no log line may (contract §1).
 */
export const logSerializers = {
  req: (request: FastifyRequest) => ({
    method: request.method,
    url: request.routeOptions.url,
    remoteAddress: request.ip,
  }),
  // Fastify's types want a string; pino, and Fastify's own serializer, give an object.
} as unknown as NonNullable<RegisterOptions['logSerializers']>
