import type { Reason } from '../../errors.ts'

/** Reasons for which every request can be refused. */
export const everywhere = [
  'bad_request',
  'head_too_large',
  'request_timeout',
  'too_many_connections',
  'internal_error',
] as const

/** Reasons to refuse requests that look up a credential in the store. */
const lookedUp = ['too_many_failed_credentials', 'store_timeout', 'store_unavailable'] as const

/** Reasons to refuse requests for a thing (`<ref>` in the path). */
export const ofThing = [
  'unknown_thing_token',
  'invalid_session',
  'missing_credential',
  'forbidden',
  'not_found',
  'unknown_thing',
  ...lookedUp,
] as const satisfies readonly Reason[]

/** Reasons to refuse requests that accept any credential. */
export const ofCredential = [
  'invalid_session',
  'missing_credential',
  ...lookedUp,
] as const satisfies readonly Reason[]

/** Reasons to refuse requests that need the admin key. */
export const ofAdmin = [...ofCredential, 'forbidden'] as const satisfies readonly Reason[]

export const ofThingToken = ['unknown_thing_token', ...lookedUp] as const satisfies readonly Reason[]
export const ofActivationCode = ['unknown_activation_code', ...lookedUp] as const satisfies readonly Reason[]

/** Reasons to refuse requests with a JSON body. */
export const ofBody = [
  'invalid_utf8',
  'invalid_json',
  'invalid_body',
  'invalid_content_encoding',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
] as const satisfies readonly Reason[]
