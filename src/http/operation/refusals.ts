import type { Reason } from '../../errors.ts'

/** What stands before every request. */
export const everywhere = [
  'bad_request',
  'head_too_large',
  'request_timeout',
  'too_many_connections',
  'internal_error',
] as const

/** Where a credential is looked up; looking it up asks the store. */
const lookedUp = ['too_many_failed_credentials', 'store_timeout', 'store_unavailable'] as const

/** Where a `<ref>` says which thing, and a credential who asks. */
export const ofThing = [
  'unknown_thing_token',
  'invalid_session',
  'missing_credential',
  'forbidden',
  'not_found',
  'unknown_thing',
  ...lookedUp,
] as const satisfies readonly Reason[]

/** Where any credential is enough. */
export const ofCredential = [
  'invalid_session',
  'missing_credential',
  ...lookedUp,
] as const satisfies readonly Reason[]

/** Where the admin key is wanted. */
export const ofAdmin = [...ofCredential, 'forbidden'] as const satisfies readonly Reason[]

/** Where a secret of another kind is looked up. */
export const ofThingToken = ['unknown_thing_token', ...lookedUp] as const satisfies readonly Reason[]
export const ofActivationCode = ['unknown_activation_code', ...lookedUp] as const satisfies readonly Reason[]

/** Where a body of JSON is read. */
export const ofBody = [
  'invalid_utf8',
  'invalid_json',
  'invalid_body',
  'invalid_content_encoding',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
] as const satisfies readonly Reason[]
