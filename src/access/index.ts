export type * from './access.ts'
export { type AdminKey, type AdminKeyOptions, keepAdminKey, loadAdminKey } from './admin-key.ts'
export { type AccessParts, type AccessServices, createAccess } from './create-access.ts'
