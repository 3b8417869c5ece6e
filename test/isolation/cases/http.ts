import type { HttpTrick } from '../trick.ts'
import { adminTricks } from './http-admin.ts'
import { credentialTricks } from './http-credentials.ts'
import { pathTricks } from './http-paths.ts'
import { refTricks } from './http-refs.ts'
import { rightTricks } from './http-rights.ts'

export const httpTricks: readonly HttpTrick[] = [
  ...pathTricks,
  ...refTricks,
  ...credentialTricks,
  ...rightTricks,
  ...adminTricks,
]
